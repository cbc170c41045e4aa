/** Unique columns and workflows that reject changes, which no definition tells. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness();

const people = {
	internalName: 'people',
	header: 'People',
	fields: [
		{ name: 'code', header: 'Code', type: 'text', metadata: { importKey: true } },
		{ name: 'email', header: 'E-mail', type: 'text', unique: true },
		{ name: 'note', header: 'Note', type: 'text' },
	],
	rejections: [{ field: 'note', contains: 'secret', message: 'Secrets go to the safe, please.' }],
};
const TAKEN = "Another record has this value in 'E-mail': ann@example.com";

const cases: Array<[what: string, values: IDataObject, error: string, next: string]> = [
	['a value that another record has', { email: 'ann@example.com' }, TAKEN, "Correct the value of 'email'."],
	['what a workflow rejects', { note: 'a secret' }, 'Secrets go to the safe, please', 'See what the message asks for, then run it again.'],
];

describe.each(['perRecord', 'wholeBatch400'])('with batchFailure %s', (batchFailure) => {
	test.each(cases)('%s: the item says so, and the others are written', async (_, values, error, next) => {
		for (const operation of ['create', 'upsert', 'update']) {
			await harness.createTable(people, [{ code: 'a', email: 'ann@example.com' }, { code: 'b' }, { code: 'c' }]);
			await harness.settings({ rejections: 'byField', batchFailure });
			const codes = operation === 'create' ? ['x', 'y'] : ['b', 'c'];
			const items = [
				{ code: codes[0]!, ...values },
				{ code: codes[1]!, note: 'open' },
			];
			const parameters = operation === 'update' ? { matchOn: 'importKey' } : {};
			const result = await harness.run(operation, { table: 'people', items, parameters, ...goingOn });
			expect(outcomes(result)).toEqual(['failed', operation === 'create' ? 'inserted' : 'updated']);
			expectFailed(result, 0, error);
			expect(result.json()[0]!.message).toBe(next);
		}
	});
});

test.each(['RecordIndex', 'recordIndex', 'none'])('with the position as %s, the item that is rejected is told', async (errorPosition) => {
	await harness.createTable(people, [{ code: 'a', email: 'ann@example.com' }]);
	await harness.settings({ rejections: 'byField', errorPosition });
	const items = ['x', 'y', 'z'].map((code) => ({ code, email: code === 'y' ? 'ann@example.com' : code }));
	const result = await harness.run('create', { table: 'people', items, ...goingOn });
	expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
	expectFailed(result, 1, TAKEN);
});
