/** Requests for a table that is addressed without an application: a platform may not serve them. */
import { keptTables, TableClient } from '../../../nodes/DataPlatform/api/table.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { fakePlatform, httpResponse, networkError, notFound, type Serve } from '../stubPlatform.cts';

type Served = ReturnType<Serve>;

const SHORT = '/people/data/x';
const FOUND = '/apps/crm/tables/t/data/x';

const ok = (data: unknown) => httpResponse(200, { data });
const error = (status: number) => httpResponse(status, { errors: [{ message: `error ${status}` }] });
const lost = () => networkError('ECONNRESET');
const gateway = httpResponse(404, '<html>Not Found</html>');

const record = ok({ id: 'x' });
const people = { id: 't', internalNameApi: 'people', items: [{ name: 'a', type: 'text' }] };

/** Where the table is looked for, if nothing else is said. */
const STRUCTURE: Record<string, Served> = { '/apps': ok([{ id: 'crm', name: 'CRM' }]), '/apps/crm/tables': ok([people]) };

/** A client that gets one response after the other from each path, the last one again and again. */
function clientOf(responses: Record<string, Served | Served[]>) {
	const left = Object.fromEntries(Object.entries({ ...STRUCTURE, ...responses }).map(([path, all]) => [path, [all].flat()]));
	const serve: Serve = ({ url }) => {
		const all = left[new URL(url).pathname.replace('/api/v2', '')] ?? [];
		return (all.length > 1 ? all.shift() : all[0]) ?? notFound();
	};
	const { connection, sent } = fakePlatform(serve, {}, TableClient);
	const send = async (request: Partial<ApiRequest> = {}) =>
		await connection.tryRequest({ method: 'GET', path: `/api/v2${SHORT}`, retryMode: 'read', ...request });
	const requests = () => sent.splice(0).map(({ method, url }) => `${method} ${new URL(url).pathname.replace('/api/v2', '')}`);
	return { send, requests };
}

// No wait between attempts.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(-1));
beforeEach(() => keptTables.clear());
afterEach(() => jest.restoreAllMocks());

test('if the platform serves it, one request is enough', async () => {
	const { send, requests } = clientOf({ [SHORT]: record });
	expect(await send()).toMatchObject({ body: { data: { id: 'x' } } });
	expect(requests()).toEqual([`GET ${SHORT}`]);
});

test('if it does not, the table is looked for once, and the address where it was found is used from then on', async () => {
	const { send, requests } = clientOf({ [FOUND]: [record, error(400), record] });
	expect(await send({ method: 'DELETE' })).toMatchObject({ body: { data: { id: 'x' } } });
	expect(requests()).toEqual([`DELETE ${SHORT}`, 'GET /apps', 'GET /apps/crm/tables', `DELETE ${FOUND}`]);
	expect(await send()).toMatchObject({ status: 400 });
	expect(await send({ path: '/api/v2/people/data/y' })).toMatchObject({ status: 404 });
	expect(requests()).toEqual([`GET ${FOUND}`, `GET ${FOUND.replace(/x$/, 'y')}`]);
});

test.each<[string, Served]>([
	['another error', error(400)],
	['a missing right', error(403)],
	['a 404 that is not the platform’s', gateway],
])('nothing is looked for after %s', async (_, response) => {
	const { send, requests } = clientOf({ [SHORT]: response });
	expect(await send()).toBeInstanceOf(ServiceError);
	expect(requests()).toEqual([`GET ${SHORT}`]);
});

const CHOOSE = expect.stringMatching(/^Choose (the application|one) in 'Application'/) as string;

test.each<[string, Record<string, Served>, object]>([
	['no application has the table', { '/apps/crm/tables': ok([]) }, { hint: expect.not.stringContaining('Choose') }],
	['the look-up fails', { '/apps': error(400) }, { hint: expect.not.stringContaining('Choose') }],
	['only the user can tell where it is', { '/apps': error(403) }, { hint: CHOOSE }],
	['several applications have it', { '/apps/crm/tables': ok([people, people]) }, { hint: CHOOSE }],
])('the 404 stands if %s', async (_, responses, expected) => {
	const { send, requests } = clientOf(responses);
	const result = await send();
	expect(result).toBeInstanceOf(ServiceError);
	expect(result).toMatchObject({ message: 'not found', status: 404, delivery: 'rejected', ...expected });
	expect(requests()).not.toContain(`GET ${FOUND}`);
});

describe('an attempt before the 404 may have done it', () => {
	const deletion: Partial<ApiRequest> = { method: 'DELETE', retryMode: 'idempotent', bodyRequirement: 'anything' };

	test('a success at the found address comes with it', async () => {
		const { send } = clientOf({ [SHORT]: [lost(), notFound()], [FOUND]: record });
		expect(await send(deletion)).toMatchObject({ body: { data: { id: 'x' } }, previousAttempt: { delivery: 'ambiguous' } });
	});

	test('a rejection at the found address does not settle it', async () => {
		const { send } = clientOf({ [SHORT]: [lost(), notFound()], [FOUND]: error(400) });
		expect(await send(deletion)).toMatchObject({ delivery: 'ambiguous', status: 400, rejection: { message: 'error 400' } });
	});

	test('without one, what comes from the found address is all', async () => {
		const { send } = clientOf({ [SHORT]: notFound(), [FOUND]: record });
		expect(await send(deletion)).toMatchObject({ body: { data: { id: 'x' } }, previousAttempt: undefined });
		keptTables.clear();
		const other = clientOf({ [SHORT]: notFound(), [FOUND]: error(400) });
		expect(await other.send(deletion)).toMatchObject({ delivery: 'rejected', message: 'error 400' });
	});
});
