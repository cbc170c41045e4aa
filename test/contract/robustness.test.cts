import fc from 'fast-check';
import type { HttpClient } from '../../harness/sandboxAdmin.mts';
import { anyText } from '../support/anyText.cts';
import { runsOf } from '../support/part.mts';
import { usePlatform } from './contract.cts';

const platform = usePlatform();
const deals = '/apps/crm/tables/deals/data';
const headers = { 'Content-Type': 'application/json' };

/** Not checked by the contract, which has no other response to nonsense. */
let client: HttpClient;
beforeAll(() => void (client = platform.sandbox.client()));

const names = fc.constantFrom(
	...['number', 'title', 'stage', 'seats', 'chance', 'value', 'signed', 'due', 'meeting', 'tags'],
	...['channels', 'link', 'steps', 'talk', 'company', 'people', 'papers', 'send', 'caption'],
	...['id', 'modified', 'company.name', 'people.company.city', 'nothing', '__proto__', ''],
);
const operators = fc.constantFrom(
	...['contains', 'notcontains', 'startswith', 'endswith', 'eq', '===', 'neq', 'empty', 'in'],
	...['notempty', 'notin', 'gt', 'lt', 'gte', 'lte', 'duplicity', 'currentuser', 'like'],
);
const text = fc.oneof(anyText(), fc.constantFrom('\\\\,', '1', 'true', '(a,b)'));
const value = fc.oneof(fc.jsonValue(), text);

/** The request succeeds, or is rejected in the contract's form. An internal error or a broken connection throws. */
async function expectHandled(response: Promise<{ status: number; data: unknown }>): Promise<void> {
	const { status, data } = await response;
	if (status >= 500) throw new Error(`${status}: ${JSON.stringify(data)}`);
	if (status >= 400) expect(data).toEqual({ errors: expect.any(Array) });
}

test('bulk requests with random fields never cause an internal error, and the records can be read afterwards', async () => {
	const record = fc.record({ id: fc.option(fc.string()), fields: fc.dictionary(names, value) }, { requiredKeys: ['fields'] });
	const body = fc.record({ bulk: fc.array(record, { maxLength: 5 }), useUpsert: fc.boolean() });
	const method = fc.constantFrom('post', 'patch', 'put');
	await fc.assert(
		fc.asyncProperty(method, body, async (verb, data) => {
			const url = `${deals}/bulk?dataResponseType=MetadataOnly`;
			await expectHandled(client.request({ method: verb, url, data: JSON.stringify(data), headers }));
		}),
		{ numRuns: runsOf(300) },
	);
	await expectHandled(client.get(`${deals}?limit=1000`));
});

test('random bodies never cause an internal error', async () => {
	const paths = fc.constantFrom('', '/bulk', '/filter', '/count/filter', '/summary');
	await fc.assert(
		fc.asyncProperty(paths, fc.oneof(fc.json(), fc.string()), async (path, body) => {
			await expectHandled(client.post(`${deals}${path}`, body, { headers }));
		}),
		{ numRuns: runsOf(200) },
	);
});

test('random filters and sorts never cause an internal error', async () => {
	const clause = fc.tuple(names, operators, text).map(([a, b, c]) => `${a}(${b})${c}`);
	const filter = fc.oneof(
		fc.array(clause, { maxLength: 3 }).map((clauses) => clauses.join(',')),
		text,
	);
	const condition = fc.record({ field: names, operator: operators, value });
	await fc.assert(
		fc.asyncProperty(filter, text, fc.array(condition), async (query, sort, conditions) => {
			const params = { filter: query, ...(sort.length % 2 ? { sort } : {}) };
			await expectHandled(client.get(deals, { params }));
			await expectHandled(client.post(`${deals}/filter`, { filter: conditions }));
		}),
		{ numRuns: runsOf(200) },
	);
});

test.each([
	['deeply nested values', (deep: string) => `{"fields":{"title":${deep}}}`, ''],
	['deeply nested filters', () => nestedFilter(5000), '/filter'],
	['thousands of conditions', () => manyConditions(2000), '/filter'],
	['infinite numbers', () => '{"fields":{"number":"x","title":"x","weight":1e999}}', ''],
])('a request with %s is rejected with one error', async (_name, body, path) => {
	const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	const response = await client.post(`${deals}${path}`, body(deep), { headers });
	expect(response.status).toBe(400);
	expect(response.data.errors).toHaveLength(1);
});

function nestedFilter(depth: number): string {
	return `${'{"filter":['.repeat(depth)}${']}'.repeat(depth)}`;
}

function manyConditions(count: number): string {
	const condition = { field: 'title', operator: 'eq', value: 'x' };
	return JSON.stringify({ filter: Array(count).fill(condition) });
}
