/** What the response to an upsert with only the named key says about that key. */
import { afterProof, proveKey } from '../../../../nodes/DataPlatform/bulk/send/proveKey.ts';
import type { Outcome } from '../../../../nodes/DataPlatform/bulk/terms.ts';
import { ServiceError, type Delivery } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { people, sendableOf } from '../../fixtures.cts';
import { fakePlatform, httpResponse } from '../../stubPlatform.cts';

const DID = `The platform does not find records of table '${people.header}' by 'email': an upsert with the value "a", which a record has,`;

/** @param data what the platform says of the record; or its error */
const prove = async (status: number, data: object | undefined, isFirst = true) => {
	const body = status < 400 ? { data } : { errors: [{ message: 'A name is required' }] };
	const { connection: client, sent } = fakePlatform(() => httpResponse(status, body));
	const record = sendableOf({ index: 3, fields: { email: 'a', surname: 'Fox' } });
	const stored = [{ id: '1' }, { id: '2' }];
	const written = isFirst ? undefined : ({ outcome: 'inserted', id: '2' } as const);
	const failure = await proveKey({ client, at: { table: 'people' }, table: people }, 'email', [record, stored], written, 'row');
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
	['after other items', 200, other, false, `${DID} inserted another record, '9': delete it. Only rows up to 3 were written.`, 'rejected'],
	['it misses another field', 400, undefined, true, `${DID} was rejected: A name is required. Nothing was written.`, 'rejected'],
	['after other items, too', 422, undefined, false, `${DID} was rejected: A name is required. Only rows up to 3 were written.`, 'rejected'],
	[
		'it names no record',
		200,
		{},
		true,
		`${DID.replace('The platform does not find', 'Unknown whether the platform finds')} named no record in its response: look whether a second one has this value, and delete it. Nothing else was written.`,
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
});

const NONE_HAD_IT = ', although none had this key before';

test.each<[what: string, outcome: Outcome, failure: Delivery | undefined, wasNew: boolean, isLast: boolean, says: string | undefined]>([
	['the key is proven', 'updated', undefined, true, true, undefined],
	['a new record, others report the failure', 'inserted', 'rejected', true, false, undefined],
	['a new record, nothing else reports it', 'inserted', 'rejected', true, true, ''],
	['a new record, the proof was lost', 'inserted', 'ambiguous', true, true, undefined],
	['no record had the key', 'updated', 'rejected', true, false, NONE_HAD_IT],
	['no record had the key, the proof was lost', 'unchanged', 'ambiguous', true, true, NONE_HAD_IT],
	['nobody knows who had it', 'updated', 'rejected', false, false, ''],
	['nobody knows who had it, the proof was lost', 'updated', 'ambiguous', false, true, undefined],
	['it may be new', 'written', 'rejected', true, false, ''],
	['it may be new, the proof was lost', 'written', 'ambiguous', true, true, undefined],
])('after a write: %s', (_, outcome, delivery, wasNew, isLast, says) => {
	const item = { outcome, id: '7', ver: 1 };
	const why = delivery && new ServiceError('No.', { delivery, hint: 'Choose.' });
	const message = `Record '7' was ${outcome}${says}. No.`;
	const result = afterProof(item, why, wasNew, isLast);
	const doubted = { outcome: 'unknown', id: '7', message, hint: 'Choose.', noRetry: true, stopsRun: true };
	expect(result.outcome).toEqual(says === undefined ? item : expect.objectContaining(doubted));
	expect([result.stopped?.message, result.stopped?.delivery]).toEqual([says === undefined ? why?.message : message, delivery]);
});
