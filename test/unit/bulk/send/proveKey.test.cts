/** What the response to an upsert with only the named key says about that key. */
import { proveKey } from '../../../../nodes/DataPlatform/bulk/send/proveKey.ts';
import { people, sendableOf } from '../../fixtures.cts';
import { fakePlatform, httpResponse } from '../../stubPlatform.cts';

const KEY = people.fields.find(({ name }) => name === 'email')!;
const DID = `The platform does not find records of table '${people.header}' by 'email': of an upsert with the value "a", which a record has, it`;

/** @param data what the platform says of the record; or its error */
const prove = async (status: number, data: object | undefined, isFirst = true) => {
	const body = status < 400 ? { data } : { errors: [{ message: 'A name is required' }] };
	const { connection: client, sent } = fakePlatform(() => httpResponse(status, body));
	const record = sendableOf({ index: 3, fields: { email: 'a', surname: 'Fox' } });
	const failure = await proveKey({ client, at: { table: 'people' }, table: people }, { key: KEY, record, ids: ['1', '2'], isFirst });
	expect(sent.map((request) => String(request.body))).toEqual(['{"fields":{"email":"a"},"useUpsert":true}']);
	return failure;
};

const other = { id: '9', ver: 0 };

test.each<
	[what: string, status: number, data: object | undefined, isFirst: boolean, message: string | undefined, delivery: string | undefined]
>([
	['it finds the record', 200, { id: '2', ver: 4 }, true, undefined, undefined],
	['it finds the record, as created', 201, { id: '1', ver: 0 }, false, undefined, undefined],
	['it inserts another record', 201, other, true, `${DID} inserted another record, '9': delete it. Nothing else was written.`, 'rejected'],
	['after other items', 200, other, false, `${DID} inserted another record, '9': delete it. Only items up to 3 were written.`, 'rejected'],
	['it misses another field', 400, undefined, true, `${DID} did not take it: A name is required. Nothing was written.`, 'rejected'],
	[
		'after other items, too',
		422,
		undefined,
		false,
		`${DID} did not take it: A name is required. Only items up to 3 were written.`,
		'rejected',
	],
	[
		'it names no record',
		200,
		{},
		true,
		`Unknown whether the platform finds records of table '${people.header}' by 'email': its response to an upsert with the value "a" names no record. Nothing else was written.`,
		'ambiguous',
	],
	['a rejection that is not about the record', 403, undefined, true, 'A name is required (403)', 'rejected'],
	['a lost response', 500, undefined, true, 'The platform failed (500): A name is required', 'ambiguous'],
])('%s', async (_, status, data, isFirst, message, delivery) => {
	const failure = await prove(status, data, isFirst);
	expect([failure?.message, failure?.delivery]).toEqual([message, delivery]);
});

test('the error says where to choose the key', async () => {
	expect((await prove(201, other))!.hint).toMatch(
		/^Choose the field that the platform uses under '.*Import Key Name or ID' in the options, or/,
	);
	expect((await prove(200, {}))!.hint).toBe('Look whether a second record has this value, and delete it.');
});
