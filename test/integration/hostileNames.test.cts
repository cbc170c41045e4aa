/**
 * Names and IDs that try to be more than that: whatever they contain, a request goes to the right
 * path, or none is sent. A stub server plays the platform, because the raw request matters; the
 * sandbox shows it decoded.
 */
import type { IDataObject } from 'n8n-workflow';
import { picked, runOperation } from '../support/engine/engine.cts';
import { jsonResponse } from '../support/stubServer.mts';
import { located, UNKNOWN_ID } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const platform = useStubServer();

const run = async (parameters: IDataObject) => await runOperation(platform.credential, { parameters: { options: {}, ...parameters } });

/** Sent unchanged, each as a single segment. */
const names = [
	...['../users/me', '..%2f..%2fusers%2fme', '%2e%2e', '%2E%2E/users', '.%2e', '...', 'a/b', '/', '//evil.example.com'],
	...['?limit=0', 'a?b=c&d=e', 'a#b', '..\\..\\users', '\\\\evil.example.com', 'http://evil.example.com/', 'a;b,c:d@e'],
	...['a%b', '%', '%00', 'a+b', 'a b', 'a\u0000b', 'a\tb\nc', 'a\r\nX-Injected: yes', 'ü–漢字', '👩‍👧', '\u202egnp.exe', 'ﬀ．．／'],
	...['__proto__', 'constructor', "'; DROP TABLE contacts; --", '<script>alert(1)</script>', '{{ 1 + 1 }}', 'x'.repeat(8_000)],
];

/** No encoding makes these safe. */
const impossible: Array<[name: string, error: string]> = [
	['.', "'.' cannot be the name or ID of anything"],
	['..', "'..' cannot be the name or ID of anything"],
	[' .. ', "'..' cannot be the name or ID of anything"],
	['a\ud83d', 'contains half of a character'],
	['\udc00', 'contains half of a character'],
];

/** The places of a name in a request: what to do, and the segments around the name. */
const record = { resource: 'record', application: picked('crm') };
const places: Array<[place: string, parameters: (name: string) => IDataObject, before: string[], after: string[]]> = [
	['the application of tables', (name) => ({ resource: 'table', operation: 'getAll', application: located(name) }), ['apps'], ['tables']],
	['a table', (name) => ({ ...record, operation: 'getAll', table: located(name) }), ['apps', 'crm', 'tables'], ['data']],
	[
		'a table of any app',
		(name) => ({ ...record, operation: 'count', application: picked(''), table: located(name) }),
		[],
		['data', 'count'],
	],
	[
		'a record that is read',
		(name) => ({ ...record, operation: 'get', table: picked('contacts'), recordId: located(name) }),
		['apps', 'crm', 'tables', 'contacts', 'data'],
		[],
	],
];

/** The segments of a request's path, decoded once, as a correct server reads it. */
const segments = (target: string) => {
	expect(target).toMatch(/^\/[\x21-\x7e]*$/);
	const path = target.replace(/\?.*$/, '');
	// Gateways have the same parser: it must not normalize anything in the path.
	expect(new URL(path, 'https://platform.example.com').pathname).toBe(path);
	return path.split('/').slice(1).map(decodeURIComponent);
};

const isDefinition = ({ target }: { target: string }) => target.endsWith('/tables/contacts');

describe.each(places)('%s', (_, parameters, before, after) => {
	beforeEach(() => {
		// The definition of a table that says of no field that it is the import key.
		const definition = { id: 't', internalNameApi: 'contacts', items: [{ name: 'a', type: 'text' }] };
		platform.respond = (request) => (isDefinition(request) ? jsonResponse({ data: definition }) : { status: 404, body: '{"errors":[]}' });
	});

	const sent = () => platform.requests.filter((request) => !isDefinition(request));

	test('is requested by its name, whatever it contains', async () => {
		for (const name of names) {
			platform.requests.length = 0;
			await run(parameters(name));
			expect(sent()).toHaveLength(1);
			const [{ target, headers }] = sent() as [(typeof platform.requests)[0]];
			expect(segments(target)).toEqual(['api', 'v2', ...before, name.trim(), ...after]);
			expect(headers).not.toHaveProperty('x-injected');
			expect(headers.host).toBe(new URL(platform.origin).host);
		}
	});

	test.each(impossible)('is not requested as %j', async (name, error) => {
		const result = await run(parameters(name));
		expect(result.error?.message).toContain(error);
		expect(result.error?.message).toContain('Nothing was sent');
		expect(result.error?.description).toMatch(/Choose|Enter|Use|Correct|Check/);
		expect(sent()).toEqual([]);
	});

	test.each(['', '   ', '\n'])('is missing if an expression returns %j', async (name) => {
		const result = await run(parameters(`={{ ${JSON.stringify(name)} }}`));
		expect(result.error?.message).toContain('is empty');
		expect(platform.requests).toEqual([]);
	});
});

describe("a file's ID from the platform", () => {
	const download = async (fileId: string) => {
		const record = { id: UNKNOWN_ID, ver: 1, fields: { papers: [{ fileId, fileName: 'a.txt' }] } };
		platform.respond = ({ target }) => (target.includes('/files/') ? { body: 'content' } : jsonResponse({ data: record }));
		const parameters = { resource: 'attachment', recordId: located(UNKNOWN_ID), fileField: 'papers', outputField: 'data' };
		return await platform.run('download', { parameters });
	};

	test('is requested as one segment, whatever it contains', async () => {
		for (const fileId of names) {
			platform.requests.length = 0;
			expect((await download(fileId)).error).toBeUndefined();
			expect(segments(platform.requests.at(-1)!.target).slice(-2)).toEqual(['files', fileId]);
		}
	});

	test.each(['.', '..', '\ud800'])('is not requested as %j', async (fileId) => {
		expect((await download(fileId)).error?.message).toContain('Nothing was sent');
		expect(platform.requests).toHaveLength(1);
	});
});

describe('in a query', () => {
	const query = () => new URL(platform.requests.at(-1)!.target, platform.origin).searchParams;

	test('a saved view is one value', async () => {
		for (const savedView of names) {
			await platform.run('getAll', { options: { savedView } });
			expect([...query().keys()].sort()).toEqual(['limit', 'sort', 'userFilter']);
			expect(query().get('userFilter')).toBe(savedView);
		}
	});

	test('half a character is rejected', async () => {
		const { error } = await platform.run('getAll', { options: { savedView: 'a\ud83d' } });
		expect(error?.message).toContain('"a\\ud83d" contains half of a character');
		expect(platform.requests).toEqual([]);
	});
});
