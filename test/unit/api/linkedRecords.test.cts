/** Reading linked records, on tables in memory: what is returned, and by which requests. */
import { LinkedRecords, MAX_LINK_REQUESTS, type Inclusion } from '../../../nodes/DataPlatform/api/linkedRecords.ts';
import type { FieldValues, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, storedOf, tableOf } from '../fixtures.cts';
import { httpResponse, pageResponse } from '../stubPlatform.cts';
import { LINKED, StubTables } from '../stubTables.cts';

const link = (multiple: boolean, more: Partial<Inclusion> = {}): Inclusion => ({
	field: fieldOf('link', 'schema_link', { multiple }),
	tableId: 'people',
	target: { at: { table: 'companies' }, table: tableOf(fieldOf('name')) },
	limit: 50,
	...more,
});
const withNames = { names: ['name'] };

const companies = (count: number) =>
	Object.fromEntries(Array.from({ length: count }, (_, at): [string, FieldValues] => [`c${at}`, { name: `C${at}` }]));

interface Setup {
	inclusion: Inclusion;
	count?: number;
	respond?: Parameters<StubTables['client']>[0];
}

function setUp({ inclusion, count = 5, respond }: Setup) {
	const stub = new StubTables({ companies: companies(count) });
	const reader = new LinkedRecords(stub.client(respond));
	const include = async (...values: Array<JsonValue | undefined>) => {
		const records = values.map((value, at) => storedOf({ id: `p${at}`, fields: value === undefined ? {} : { link: value } }));
		const included = await reader.include(records, [inclusion]);
		// The original records may still be needed unchanged.
		expect(records.map(({ fields }) => fields.link)).toEqual(values);
		return included.map(({ fields }) => fields.link);
	};
	return { stub, reader, include };
}

describe('a link to one record', () => {
	test.each<[given: JsonValue | undefined, ids: JsonValue | undefined]>([
		[{ id: 'c1', url: 'u' }, 'c1'],
		['c1', 'c1'],
		[null, null],
		['', ''],
		[{ id: '' }, { id: '' }],
		[{ id: 5 }, { id: 5 }],
		[undefined, undefined],
	])('only its id, without a request: %j', async (given, ids) => {
		const { include, stub, reader } = setUp({ inclusion: link(false) });
		expect(await include(given)).toEqual([ids]);
		expect(stub.requests).toEqual([]);
		expect([reader.isCut, reader.isUnread]).toEqual([false, false]);
	});

	test('fields that it shows need no request; others do, once', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		expect(await include({ id: 'x', name: 'Shown' }, { id: 'c1', url: 'u' }, 'c1', 'x')).toEqual([
			{ id: 'x', name: 'Shown' },
			{ id: 'c1', name: 'C1' },
			{ id: 'c1', name: 'C1' },
			{ id: 'x', name: 'Shown' },
		]);
		expect(stub.requests).toEqual(['GET companies c1']);
		expect(await include('c1')).toEqual([{ id: 'c1', name: 'C1' }]);
		expect(stub.requests).toHaveLength(1);
	});

	test('what a link shows is not kept for the next page: memory stays flat', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		expect(await include({ id: 'c2', name: 'Shown' })).toEqual([{ id: 'c2', name: 'Shown' }]);
		expect(stub.requests).toEqual([]);
		expect(await include('c2')).toEqual([{ id: 'c2', name: 'C2' }]);
		expect(await include({ id: 'c2', name: 'Other' })).toEqual([{ id: 'c2', name: 'C2' }]);
		expect(stub.requests).toEqual(['GET companies c2']);
	});

	test('a record that is gone has its id only; a field without a value is null', async () => {
		const names = ['name', 'city'];
		const { include, reader } = setUp({ inclusion: link(false, { names }) });
		expect(await include('gone', 'c0')).toEqual([{ id: 'gone' }, { id: 'c0', name: 'C0', city: null }]);
		expect(reader.isUnread).toBe(false);
	});

	test.each<[what: string, count: number, links: number, requests: string[]]>([
		['two are read each', 5, 2, ['GET companies c0', 'GET companies c1']],
		['three of a small table with the whole of it', 5, 3, ['GET companies count', 'POST companies filter']],
		['three of a large table each', 3000, 3, ['GET companies count', 'GET companies c0', 'GET companies c1', 'GET companies c2']],
		['of a table of two pages, reading stops once all are found', 1500, 4, ['GET companies count', 'POST companies filter']],
		['and so it does of one of many pages', 3500, 6, ['GET companies count', 'POST companies filter']],
	])('%s', async (_, count, links, requests) => {
		const { include, stub } = setUp({ inclusion: link(false, withNames), count });
		const ids = Array.from({ length: links }, (__, at) => `c${at}`);
		expect(await include(...ids)).toEqual(ids.map((id) => ({ id, name: id.toUpperCase() })));
		// The page after the last one is requested ahead.
		expect(stub.requests.slice(0, requests.length)).toEqual(requests);
		expect(stub.requests.length - requests.length).toBeLessThanOrEqual(1);
	});

	// A table is read as a whole if its pages, which overlap by a record, are fewer than the links.
	test.each([
		[1997, 'POST companies filter'],
		[1998, 'GET companies c0'],
	])('three links to a table of %i records', async (count, second) => {
		const { include, stub } = setUp({ inclusion: link(false, withNames), count });
		await include('c0', 'c1', 'c2');
		expect(stub.requests[1]).toBe(second);
	});

	test('the pages are read until all are found', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames), count: 1500 });
		expect(await include('c0', 'c1', 'c1200', 'c1300')).toEqual([0, 1, 1200, 1300].map((at) => ({ id: `c${at}`, name: `C${at}` })));
		expect(stub.requests.filter((request) => request.startsWith('GET companies c1'))).toEqual([]);
	});

	test('a link that shows only some of the fields is read', async () => {
		const inclusion = link(false, { names: ['name', 'city'] });
		const { include, stub } = setUp({ inclusion });
		expect(await include({ id: 'c0', name: 'Old' })).toEqual([{ id: 'c0', name: 'C0', city: null }]);
		expect(stub.requests).toEqual(['GET companies c0']);
	});

	test('two links to one table, with other fields', async () => {
		const stub = new StubTables({ companies: companies(2) });
		const reader = new LinkedRecords(stub.client());
		const other = { ...link(false, { names: ['city'] }), field: fieldOf('other', 'schema_link') };
		const fields = { link: 'c0', other: 'c0' };
		const [record] = await reader.include([storedOf({ id: 'p', fields })], [link(false, withNames), other]);
		expect(record!.fields).toEqual({ link: { id: 'c0', name: 'C0' }, other: { id: 'c0', city: null } });
	});

	test('what was read is known from then on', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		await include('c0', 'c1', 'c2', 'c3');
		const { length } = stub.requests;
		await include('c3', 'c2', 'c1', 'c0');
		expect(stub.requests).toHaveLength(length);
	});

	test('the size of a table is asked for once', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames), count: 3000 });
		await include('c0', 'c1', 'c2');
		await include('c3', 'c4', 'c5');
		expect(stub.requests.filter((request) => request.endsWith('count'))).toHaveLength(1);
	});

	test('one that is in no page is read by itself', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		expect(await include('c0', 'c1', 'gone')).toEqual([{ id: 'c0', name: 'C0' }, { id: 'c1', name: 'C1' }, { id: 'gone' }]);
		expect(stub.requests.at(-1)).toBe('GET companies gone');
	});

	test('other failures than 404 are thrown', async () => {
		const respond = () => httpResponse(403, {});
		const { include } = setUp({ inclusion: link(false, withNames), respond });
		await expect(include('c0')).rejects.toMatchObject({ status: 403 });
		await expect(include('c0')).rejects.toThrow(ServiceError);
	});
});

describe('a link to many records', () => {
	const linked = Array.from({ length: LINKED }, (_, at) => `c${at}`);

	test.each<[given: JsonValue | undefined, becomes: JsonValue | undefined, isCut: boolean]>([
		[{ count: LINKED, url: 'u' }, linked, false],
		// One was deleted after the count.
		[{ count: LINKED + 1, url: 'u' }, linked, false],
		[{ count: 1, url: 'u' }, linked, false],
		['?', linked, false],
		[{ count: 0, url: 'u' }, [], false],
		[null, [], false],
		[undefined, undefined, false],
	])('%j: %j', async (given, becomes, isCut) => {
		const { include, reader } = setUp({ inclusion: link(true) });
		expect(await include(given)).toEqual([becomes]);
		expect(reader.isCut).toBe(isCut);
	});

	test('none has no request, others have one each', async () => {
		const { include, stub } = setUp({ inclusion: link(true) });
		await include(null, { count: 0, url: 'u' }, { count: 1, url: 'u' }, { count: 2, url: 'u' });
		expect(stub.requests).toEqual(['GET companies', 'GET companies']);
		expect(stub.queries).toMatchObject([
			{ linkId: 'p2', linkTableId: 'people', linkField: 'link', limit: '51', sort: 'created,id' },
			{ linkId: 'p3' },
		]);
	});

	test.each<[count: number, requests: number]>([
		// More than a page; the next one is requested ahead.
		[2500, 3],
		[1000, 1],
	])('of %i records, as many pages as it has', async (count, requests) => {
		const stub = new StubTables({ companies: companies(3000) });
		const client = stub.client((_, options) => {
			const query = new URL(options.url).searchParams;
			const skip = Number(query.get('skip') ?? 0);
			const all = stub.tables.companies!.slice(0, count);
			return httpResponse(200, { data: all.slice(skip, skip + Number(query.get('limit'))) });
		});
		const [record] = await new LinkedRecords(client).include(
			[storedOf({ id: 'p', fields: { link: { count, url: 'u' } } })],
			[link(true, { limit: 5000 })],
		);
		expect(record!.fields.link).toHaveLength(count);
		expect(stub.requests.length).toBeGreaterThanOrEqual(requests);
		expect(stub.requests.length).toBeLessThanOrEqual(requests + 1);
	});

	test('of a round number, no more than its page', async () => {
		const { include, stub } = setUp({
			inclusion: link(true),
			respond: () => httpResponse(200, { data: Array.from({ length: 25 }, (_, at) => storedOf({ id: `c${at}` })) }),
		});
		expect((await include({ count: 25, url: 'u' }))[0]).toHaveLength(25);
		expect(stub.requests).toEqual(['GET companies']);
	});

	test('with fields', async () => {
		const { include } = setUp({ inclusion: link(true, withNames) });
		expect(await include({ count: LINKED, url: 'u' })).toEqual([linked.map((id) => ({ id, name: id.toUpperCase() }))]);
	});

	test.each<[limit: number, given: JsonValue, isCut: boolean]>([
		[2, { count: 3, url: 'u' }, true],
		[3, { count: 4, url: 'u' }, false],
		[3, { count: 3, url: 'u' }, false],
		// One was linked after the count.
		[2, { count: 2, url: 'u' }, true],
		// The number is unknown.
		[2, '?', true],
		[3, '?', false],
		[4, '?', false],
	])('at most %i of %j: cut %s', async (limit, given, isCut) => {
		const { include, reader } = setUp({ inclusion: link(true, { limit }) });
		expect(await include(given)).toEqual([linked.slice(0, limit)]);
		expect(reader.isCut).toBe(isCut);
	});
});

test('several links, each in its field', async () => {
	const stub = new StubTables({ companies: companies(3) });
	const reader = new LinkedRecords(stub.client());
	const other = { ...link(true), field: fieldOf('many', 'schema_link', { multiple: true }) };
	const [record] = await reader.include(
		[storedOf({ id: 'p', fields: { link: { id: 'c1' }, many: { count: 3, url: 'u' }, n: 1 } })],
		[link(false, withNames), other],
	);
	expect(record!.fields).toEqual({ link: { id: 'c1', name: 'C1' }, many: ['c0', 'c1', 'c2'], n: 1 });
});

describe('no more requests than a run may spend', () => {
	const given = { count: 1, url: 'u' };

	test('on links to many', async () => {
		const { include, reader, stub } = setUp({ inclusion: link(true) });
		const values = await include(...Array<JsonValue>(MAX_LINK_REQUESTS + 1).fill(given));
		expect(stub.requests).toHaveLength(MAX_LINK_REQUESTS);
		expect(values.filter((value) => value === given)).toHaveLength(1);
		expect(reader.isUnread).toBe(true);
	});

	test('further pages of a link count, too', async () => {
		const { include, reader, stub } = setUp({
			inclusion: link(true),
			count: 60,
			// A platform that cuts pages.
			respond: (_, options) => pageResponse(options, stub.tables.companies!, 25),
		});
		await include(...Array<JsonValue>(MAX_LINK_REQUESTS - 2).fill(given));
		const many = { count: 60, url: 'u' };
		expect(await include(many)).toEqual([many]);
		expect(reader.isUnread).toBe(true);
	});

	test('exactly as many are no reason for a notice', async () => {
		const { include, reader } = setUp({ inclusion: link(true) });
		await include(...Array<JsonValue>(MAX_LINK_REQUESTS).fill(given));
		expect(reader.isUnread).toBe(false);
	});

	test('on links to one: the rest stay as they are', async () => {
		const { reader, stub } = setUp({ inclusion: link(true) });
		const many = Array.from({ length: MAX_LINK_REQUESTS - 1 }, (_, at) => storedOf({ id: `p${at}`, fields: { link: given } }));
		await reader.include(many, [link(true)]);
		const [one, two] = await reader.include(
			['c0', 'c1'].map((id) => storedOf({ id, fields: { link: { id, url: 'u' } } })),
			[link(false, withNames)],
		);
		expect(stub.requests).toHaveLength(MAX_LINK_REQUESTS);
		expect([one!.fields.link, two!.fields.link]).toEqual([
			{ id: 'c0', name: 'C0' },
			{ id: 'c1', url: 'u' },
		]);
		expect(reader.isUnread).toBe(true);
	});
});
