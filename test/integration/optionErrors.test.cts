/** An invalid value of an option is an error that names the option and says what to do. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, numbered, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const sorted = (field: string) => ({ sort: { by: [{ field, direction: 'asc' }] } });

/** What operations need besides a table. */
const REQUIRED: Record<string, IDataObject> = {
	getAll: { returnAll: true },
	exportToFile: { format: 'csv', outputField: 'data' },
	getChanges: { startFrom: 'beginning', pageSize: 10 },
	delete: { recordId: UNKNOWN_ID },
};

async function expectError(operation: string, run: Run, error: string, message: string) {
	const parameters = { ...REQUIRED[operation], ...run.parameters };
	const result = await harness.run(operation, { ...goingOn, items: numbered(1), ...run, parameters });
	expectFailed(result, 0, error);
	expect(result.json()[0]!.message).toBe(message);
}

const bothGone = { fieldsToLoad: ['buyer', 'gone'], savedView: 'Closed' };
const sent = 'Batches, Timeouts and Retries → ';

test.each<[operation: string, options: IDataObject, error: string, label: string]>([
	['getAll', { offset: '={{ "0x2" }}' }, `'Offset' must be a whole number at least 0, not "0x2"`, 'Offset'],
	['create', { batchSize: '={{ null }}' }, "'Batch Size' must be a whole number from 0 to 1000, it is empty", `${sent}Batch Size`],
	['upsert', { parallelRequests: 13 }, "'Parallel Requests' must be a whole number from 0 to 12, not 13", `${sent}Parallel Requests`],
	['delete', { maxRetryWait: -1 }, "'Max Wait (Seconds)' must be a number at least 0, not -1", 'Max Wait (Seconds)'],
	['create', { timeout: 0 }, "'Timeout (Seconds)' must be a number at least", `${sent}Timeout (Seconds)`],
])('%s: the number %j must be corrected', async (operation, options, error, label) => {
	await expectError(operation, { options }, error, `Correct '${label}', or the expression in it.`);
});

test.each<[what: string, operation: string, run: Run, error: string, labels: string]>([
	['A field to load', 'getAll', { options: { fieldsToLoad: ['gone'] } }, "no field 'gone'", "'Output Field Names or IDs'"],
	['A saved view', 'getAll', { options: { savedView: 'Closed' } }, "no saved view 'Closed'", "'Saved View Name or ID'"],
	['A field of changes', 'getChanges', { options: { fieldsToLoad: ['gone'] } }, "no field 'gone'", "'Output Field Names or IDs'"],
])('%s that is gone: the error names the option', async (_, operation, run, error, labels) => {
	await expectError(operation, run, error, `Check ${labels}: what is named there may have been renamed or deleted.`);
});

test.each<[what: string, operation: string, run: Run, error: string]>([
	['A field to sort by', 'getAll', { parameters: sorted('gone') }, "'gone'"],
	[
		'A field to return, before the saved view',
		'exportToFile',
		{ options: bothGone },
		"'Output Field Names or IDs': table 'Orders' has no field 'gone'",
	],
])('%s that is gone is found in the definition', async (_, operation, run, error) => {
	await expectError(
		operation,
		run,
		error,
		"The fields of 'Orders' are: 'number', 'buyer', 'price', 'state', 'comment', 'tags', 'channels', 'related', 'label', 'id', 'created', 'modified'. Correct the name. Nothing was read or changed.",
	);
});

test('A field to sort by that no field can be called is an error, and nothing is sent', async () => {
	const next = "Choose field and direction under 'Sort', or correct the expression in it.";
	await expectError('getAll', { parameters: sorted('a,b') }, "No field is called 'a,b'. Nothing was sent", next);
});

test('An import key field that is no text must be corrected', async () => {
	const options = { importKey: '={{ {} }}' };
	await expectError('upsert', { options }, "'Import Key Name or ID' must be text, not an object", 'Correct the expression in it.');
});
