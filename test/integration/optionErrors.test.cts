/** An invalid value of an option is an error that names the option and says what to do. */
import type { IDataObject } from 'n8n-workflow';
import { expectErrorItem, numbered, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const goingOn: Run = { onError: 'continueRegularOutput', items: numbered(1) };

const sorted = (field: string) => ({ sort: { by: [{ field, direction: 'asc' }] } });

/** What operations need besides a table. */
const REQUIRED: Record<string, IDataObject> = {
	getAll: { returnAll: true },
	exportToFile: { format: 'csv', outputField: 'data' },
	getChanges: { startFrom: 'beginning', pageSize: 10 },
};

const CHECK = 'what is named there may have been renamed or deleted.';

test.each<[title: string, operation: string, run: Run, error: string, message: string]>([
	[
		'An offset that is no whole number',
		'getAll',
		{ options: { offset: '={{ "0x2" }}' } },
		`'Offset' must be a whole number at least 0, not "0x2"`,
		"Correct 'Offset', or the expression in it.",
	],
	[
		'A field to load that is gone',
		'getAll',
		{ options: { fieldsToLoad: ['gone'] } },
		"no field 'gone'",
		`Check 'Output Field Names or IDs': ${CHECK}`,
	],
	[
		'A saved view that is gone',
		'getAll',
		{ options: { savedView: 'Closed' } },
		"no saved view 'Closed'",
		`Check 'Saved View Name or ID': ${CHECK}`,
	],
	['A field to sort by that is gone', 'getAll', { parameters: sorted('gone') }, "'gone'", `Check 'Sort': ${CHECK}`],
	[
		'A field to sort by that no field can be called',
		'getAll',
		{ parameters: sorted('a,b') },
		"No field is called 'a,b'. Nothing was sent",
		"Choose field and direction under 'Sort', or correct the expression in it.",
	],
	[
		'Fields and a saved view that are gone: each is named',
		'exportToFile',
		{ options: { fieldsToLoad: ['buyer', 'gone'], savedView: 'Closed' } },
		"'Closed'",
		`Check 'Saved View Name or ID', 'Output Field Names or IDs': ${CHECK}`,
	],
	[
		'A field of changes that is gone',
		'getChanges',
		{ options: { fieldsToLoad: ['gone'] } },
		"no field 'gone'",
		`Check 'Output Field Names or IDs': ${CHECK}`,
	],
	[
		'An empty batch size',
		'create',
		{ options: { batchSize: '={{ null }}' } },
		"'Batch Size' must be a whole number from 0 to 1000, it is empty",
		"Correct 'Batches, Timeouts and Retries → Batch Size', or the expression in it.",
	],
	[
		'Too many requests at once',
		'upsert',
		{ options: { parallelRequests: 13 } },
		"'Parallel Requests' must be a whole number from 0 to 12, not 13",
		"Correct 'Batches, Timeouts and Retries → Parallel Requests', or the expression in it.",
	],
	[
		'A batch of no bytes',
		'update',
		{ options: { maxBatchSizeMiB: 0 } },
		"'Batch Size (MiB)' must be a number at least 0.001, not 0",
		"Correct 'Batches, Timeouts and Retries → Batch Size (MiB)', or the expression in it.",
	],
	[
		'More failures than all',
		'sync',
		{ options: { maxFailedShare: 101 } },
		"'Max Failures (%)' must be a number from 0 to 100, not 101",
		"Correct 'Batches, Timeouts and Retries → Max Failures (%)', or the expression in it.",
	],
	[
		'No timeout',
		'create',
		{ options: { timeout: 0 } },
		"'Timeout (Seconds)' must be a number at least",
		"Correct 'Batches, Timeouts and Retries → Timeout (Seconds)', or the expression in it.",
	],
	[
		'An import key field that is no text',
		'upsert',
		{ options: { importKey: '={{ {} }}' } },
		"'Import Key Field' must be text, not an object",
		'Correct the expression in it.',
	],
])('%s is an error that names the option and says what to do', async (_, operation, run, error, message) => {
	const parameters = { ...REQUIRED[operation], ...run.parameters };
	const result = await harness.run(operation, { ...goingOn, ...run, parameters });
	const [item] = result.output('Data Platform');
	expectErrorItem(item!, 0, error);
	expect(item!.json.message).toBe(message);
});
