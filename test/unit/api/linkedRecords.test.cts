/** Reading linked records, on tables in memory: what is returned, and by which requests. */
import { LinkedRecords, MAX_LINK_REQUESTS, type Inclusion } from '../../../nodes/DataPlatform/api/linkedRecords.ts';
import type { FieldValues, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, storedOf, tableOf } from '../fixtures.cts';
import { httpResponse, pageResponse } from '../stubPlatform.cts';
import { LINKED, StubTables } from '../stubTables.cts';

const link = (multiple: boolean, more: Partial<Inclusion> = {}): Inclusion => ({
	field: fieldOf('link', 'schema_link', { multiple }),
	tableId: 'people',
	target: { client: new StubTables({}).client(), at: { table: 'companies' }, table: tableOf(fieldOf('name')) },
	limit: 50,
	...more,
});
/** The same, asked for by a client. */
const by = (client: ApiClient, inclusions: Inclusion[]) => inclusions.map((one) => ({ ...one, target: { ...one.target, client } }));
const withNames = { names: ['name'] };

/** The IDs c0, c1 and so on. */
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`);
/** The company c0 has the name C0, and so on. */
const named = (id: string) => ({ id, name: id.toUpperCase() });
const companies = (count: number) => Object.fromEntries(idsOf(count).map((id): [string, FieldValues] => [id, { name: named(id).name }]));
const get = (...paths: string[]) => paths.map((path) => `GET companies ${path}`);
const FILTER = 'POST companies filter';
/** A link to many records, as a record shows it. */
const linksTo = (count: number) => ({ count, url: 'u' });

/** An inclusion in a table of companies, and what the platform responds if not their records. */
interface Setup {
	inclusion: Inclusion;
	count?: number;
	respond?: Parameters<StubTables['client']>[0];
}

function setUp({ inclusion, count = 5, respond }: Setup) {
	const stub = new StubTables({ companies: companies(count) });
	const client = stub.client(respond);
	const reader = new LinkedRecords();
	/** What becomes of the link in each record, one record for each value. */
	const include = async (...values: Array<JsonValue | undefined>) => {
		const records = values.map((value, at) => storedOf({ id: `p${at}`, fields: value === undefined ? {} : { link: value } }));
		const included = await reader.include(records, by(client, [inclusion]));
		// The original records may still be needed unchanged.
		expect(records.map(({ fields }) => fields.link)).toEqual(values);
		return included.map(({ fields }) => fields.link);
	};
	return { client, include, reader, stub };
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
	])('becomes its ID without a request if no field is chosen, and stays if it has none: %j', async (given, ids) => {
		const { include, stub, reader } = setUp({ inclusion: link(false) });
		expect(await include(given)).toEqual([ids]);
		expect(stub.requests).toEqual([]);
		expect([reader.isCut, reader.isUnread]).toEqual([false, false]);
	});

	test('is not read if it shows the chosen fields; other records are read once', async () => {
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

	test('is read if only a page before showed its fields: they are not kept, so memory stays flat', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		expect(await include({ id: 'c2', name: 'Shown' })).toEqual([{ id: 'c2', name: 'Shown' }]);
		expect(stub.requests).toEqual([]);
		expect(await include('c2')).toEqual([{ id: 'c2', name: 'C2' }]);
		expect(await include({ id: 'c2', name: 'Other' })).toEqual([{ id: 'c2', name: 'C2' }]);
		expect(stub.requests).toEqual(['GET companies c2']);
	});

	test('to a deleted record becomes its ID only; a field without a value is null', async () => {
		const { include, reader } = setUp({ inclusion: link(false, { names: ['name', 'city'] }) });
		expect(await include('gone', 'c0')).toEqual([{ id: 'gone' }, { id: 'c0', name: 'C0', city: null }]);
		expect(reader.isUnread).toBe(false);
	});

	test('of several records is read with one request, whatever the size of the table', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames), count: 3000 });
		expect(await include('c0', 'c1', 'c1200', 'c2300')).toEqual(['c0', 'c1', 'c1200', 'c2300'].map(named));
		expect(stub.requests).toEqual([FILTER]);
	});

	test('of several records is read with a request for each if the platform has no filter by ID', async () => {
		const respond: Setup['respond'] = (request) => (request === FILTER ? httpResponse(400, {}) : undefined);
		const { include, stub } = setUp({ inclusion: link(false, withNames), respond });
		expect(await include('c0', 'c1', 'c2')).toEqual(['c0', 'c1', 'c2'].map(named));
		expect(stub.requests).toEqual([FILTER, ...get('c0', 'c1', 'c2')]);
	});

	test('is read if it shows only some of the chosen fields', async () => {
		const { include, stub } = setUp({ inclusion: link(false, { names: ['name', 'city'] }) });
		expect(await include({ id: 'c0', name: 'Old' })).toEqual([{ id: 'c0', name: 'C0', city: null }]);
		expect(stub.requests).toEqual(['GET companies c0']);
	});

	test('gets its own fields beside another link to the same record', async () => {
		const stub = new StubTables({ companies: companies(2) });
		const reader = new LinkedRecords();
		const other = { ...link(false, { names: ['city'] }), field: fieldOf('other', 'schema_link') };
		const fields = { link: 'c0', other: 'c0' };
		const [record] = await reader.include([storedOf({ id: 'p', fields })], by(stub.client(), [link(false, withNames), other]));
		expect(record!.fields).toEqual({ link: { id: 'c0', name: 'C0' }, other: { id: 'c0', city: null } });
	});

	test('to a record that was read before causes no request', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		await include(...idsOf(4));
		const before = [...stub.requests];
		await include(...idsOf(4).reverse());
		expect(stub.requests).toEqual(before);
	});

	test('to a record that is not found with others is read with a request of its own', async () => {
		const { include, stub } = setUp({ inclusion: link(false, withNames) });
		expect(await include('c0', 'c1', 'gone')).toEqual([{ id: 'c0', name: 'C0' }, { id: 'c1', name: 'C1' }, { id: 'gone' }]);
		expect(stub.requests.at(-1)).toBe('GET companies gone');
	});

	test('throws an error if its record can’t be read for another reason than 404', async () => {
		const { include } = setUp({ inclusion: link(false, withNames), respond: () => httpResponse(403, {}) });
		await expect(include('c0')).rejects.toMatchObject({ status: 403 });
		await expect(include('c0')).rejects.toThrow(ServiceError);
	});
});

describe('a link to many records', () => {
	const linked = idsOf(LINKED);

	test.each<[given: JsonValue | undefined, becomes: JsonValue | undefined, isCut: boolean]>([
		[linksTo(LINKED), linked, false],
		// One was deleted after the count.
		[linksTo(LINKED + 1), linked, false],
		[linksTo(1), linked, false],
		['?', linked, false],
		[linksTo(0), [], false],
		[null, [], false],
		[undefined, undefined, false],
	])('becomes the IDs of its records: %j becomes %j', async (given, becomes, isCut) => {
		const { include, reader } = setUp({ inclusion: link(true) });
		expect(await include(given)).toEqual([becomes]);
		expect(reader.isCut).toBe(isCut);
	});

	test('is read with one request, or none if it is empty', async () => {
		const { include, stub } = setUp({ inclusion: link(true) });
		await include(null, linksTo(0), linksTo(1), linksTo(2));
		expect(stub.requests).toEqual(['GET companies', 'GET companies']);
		expect(stub.queries).toMatchObject([
			{ linkId: 'p2', linkTableId: 'people', linkField: 'link', limit: '51', sort: 'created,id' },
			{ linkId: 'p3' },
		]);
	});

	test.each<[count: number, requests: number]>([
		[2500, 3],
		[1000, 1],
	])('to %i records is read to its end, in %i requests and perhaps one ahead', async (count, requests) => {
		const stub = new StubTables({ companies: companies(3000) });
		const client = stub.client((_, options) => pageResponse(options, stub.tables.companies!.slice(0, count)));
		const [record] = await new LinkedRecords().include(
			[storedOf({ id: 'p', fields: { link: linksTo(count) } })],
			by(client, [link(true, { limit: 5000 })]),
		);
		expect(record!.fields.link).toHaveLength(count);
		expect(stub.requests.length).toBeGreaterThanOrEqual(requests);
		expect(stub.requests.length).toBeLessThanOrEqual(requests + 1);
	});

	test('to just as many records as it counts needs no request for a second page', async () => {
		const { include, stub } = setUp({
			inclusion: link(true),
			respond: () => httpResponse(200, { data: idsOf(25).map((id) => storedOf({ id })) }),
		});
		expect((await include(linksTo(25)))[0]).toHaveLength(25);
		expect(stub.requests).toEqual(['GET companies']);
	});

	test('becomes its records with the chosen fields', async () => {
		const { include } = setUp({ inclusion: link(true, withNames) });
		expect(await include(linksTo(LINKED))).toEqual([linked.map(named)]);
	});

	test.each<[limit: number, given: JsonValue, isCut: boolean]>([
		[2, linksTo(3), true],
		[3, linksTo(4), false],
		[3, linksTo(3), false],
		// One was linked after the count.
		[2, linksTo(2), true],
		// The number is unknown.
		[2, '?', true],
		[3, '?', false],
		[4, '?', false],
	])('becomes %i IDs at most: %j is cut: %s', async (limit, given, isCut) => {
		const { include, reader } = setUp({ inclusion: link(true, { limit }) });
		expect(await include(given)).toEqual([linked.slice(0, limit)]);
		expect(reader.isCut).toBe(isCut);
	});
});

test('a link to one record and a link to many are included together, each in its field', async () => {
	const stub = new StubTables({ companies: companies(3) });
	const reader = new LinkedRecords();
	const other = { ...link(true), field: fieldOf('many', 'schema_link', { multiple: true }) };
	const [record] = await reader.include(
		[storedOf({ id: 'p', fields: { link: { id: 'c1' }, many: linksTo(3), n: 1 } })],
		by(stub.client(), [link(false, withNames), other]),
	);
	expect(record!.fields).toEqual({ link: { id: 'c1', name: 'C1' }, many: ['c0', 'c1', 'c2'], n: 1 });
});

describe('when a run has spent the requests that it may send for links', () => {
	const given = linksTo(1);
	const links = (count: number) => Array<JsonValue>(count).fill(given);

	test('the next link to many stays as it is, with a notice', async () => {
		const { include, reader, stub } = setUp({ inclusion: link(true) });
		const values = await include(...links(MAX_LINK_REQUESTS + 1));
		expect(stub.requests).toHaveLength(MAX_LINK_REQUESTS);
		expect(values.filter((value) => value === given)).toHaveLength(1);
		expect(reader.isUnread).toBe(true);
	});

	test('a link to many of which a further page would be needed stays as it is: each page counts', async () => {
		const { include, reader, stub } = setUp({
			inclusion: link(true),
			count: 60,
			// A platform that cuts pages.
			respond: (_, options) => pageResponse(options, stub.tables.companies!, 25),
		});
		await include(...links(MAX_LINK_REQUESTS - 2));
		expect(await include(linksTo(60))).toEqual([linksTo(60)]);
		expect(reader.isUnread).toBe(true);
	});

	test('there is no notice if no more are needed', async () => {
		const { include, reader } = setUp({ inclusion: link(true) });
		await include(...links(MAX_LINK_REQUESTS));
		expect(reader.isUnread).toBe(false);
	});

	test('the next link to one stays as it is, with a notice', async () => {
		// The request by IDs would take two.
		const { reader, stub, client } = setUp({ inclusion: link(true) });
		const many = links(MAX_LINK_REQUESTS - 1).map((value, at) => storedOf({ id: `p${at}`, fields: { link: value } }));
		await reader.include(many, by(client, [link(true)]));
		const [one, two] = await reader.include(
			['c0', 'c1'].map((id) => storedOf({ id, fields: { link: { id, url: 'u' } } })),
			by(client, [link(false, withNames)]),
		);
		expect(stub.requests).toHaveLength(MAX_LINK_REQUESTS);
		expect([one!.fields.link, two!.fields.link]).toEqual([
			{ id: 'c0', name: 'C0' },
			{ id: 'c1', url: 'u' },
		]);
		expect(reader.isUnread).toBe(true);
	});
});
