/** Values that an expression may give to the trigger's parameters, and strange budgets of n8n. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { watch, type Watching, type WatchOptions } from '../support/engine/polls.cts';
import { APP, useHarness } from './fixtures.cts';

const harness = useHarness();

const start = (more: IDataObject = {}, options?: WatchOptions) =>
	watch(
		harness.credential,
		{
			application: picked(APP),
			table: picked('orders'),
			triggerOn: 'createdOrUpdated',
			startFrom: 'beginning',
			...more,
		} as INodeParameters,
		options,
	);

async function createTwo() {
	const url = `/apps/${APP}/tables/orders/data`;
	for (const number of ['1', '2']) {
		await harness.sandbox.client().post(url, { fields: { number, buyer: 'Fox' } });
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}

const numbers = async (watching: Watching) =>
	(await watching.poll())?.map(({ json }) => (json as { number: string }).number) ?? [];

const option = (name: string, value: unknown) => ({ options: { [name]: value } }) as IDataObject;

test.each<[string, IDataObject, number?]>([
	['no maximum', option('maxRecordsPerPoll', null)],
	['a maximum that is no number', option('maxRecordsPerPoll', 'many')],
	['a huge maximum', option('maxRecordsPerPoll', 1e9)],
	['a negative overlap', option('overlap', -1)],
	['a huge overlap', option('overlap', 1e9)],
	['no overlap', option('overlap', null)],
	['no timeout', option('timeout', null)],
	['a timeout of 0', option('timeout', 0)],
	['a negative timeout', option('timeout', -1)],
	['a timeout that is no number', option('timeout', 'long')],
	['a timeout longer than a timer', option('timeout', 1e12)],
	['no fields to load', option('fieldsToLoad', null)],
	['fields to load as text', option('fieldsToLoad', 'number, buyer')],
	['watched fields as text', option('watchedFields', 'buyer')],
	['no saved view', option('savedView', null)],
	['no application', { application: { __rl: true, mode: 'id', value: null } }],
	['no budget', {}, 0],
	['a budget that is no number', {}, NaN],
	['a budget without end', {}, Infinity],
	['a budget longer than a timer', {}, 1e12],
])('%s is no obstacle', async (...[, parameters, pollBudgetMs]) => {
	await createTwo();
	const watching = await start(parameters, { pollBudgetMs });
	expect(await numbers(watching)).toEqual(['1', '2']);
	expect(await numbers(watching)).toEqual([]);
});

test.each<[string, IDataObject, string]>([
	['Trigger On', { triggerOn: 'removed' }, "'Trigger On' must be"],
	['Trigger On', { triggerOn: 'constructor' }, "'Trigger On' must be"],
	['Start From', { startFrom: 'yesterday' }, "'Start From' must be"],
	['Start From', { startFrom: '' }, "'Start From' must be"],
	[
		'Output Field Names or IDs',
		option('fieldsToLoad', 5),
		"'Output Field Names or IDs' must be a list",
	],
	[
		'Output Field Names or IDs',
		option('fieldsToLoad', [null]),
		"'Output Field Names or IDs' must be a list",
	],
	['Watched Fields', option('watchedFields', { a: 1 }), "'Watched Fields' must be a list"],
	['Watched Fields', option('watchedFields', ['buyer', 'nope']), "has no field 'nope' to watch"],
	['Watched Fields', option('watchedFields', ['__proto__']), "has no field '__proto__' to watch"],
	['Date', { startFrom: 'date', startDate: null }, "'Date' is not a date"],
	['Table', { table: picked('  ') }, "'Table' is empty"],
	['Saved View', option('savedView', '={{ null }}'), "'Saved View Name or ID' is empty"],
	['Saved View', option('savedView', '={{ "" }}'), "'Saved View Name or ID' is empty"],
	['Saved View', option('savedView', '={{ [] }}'), "'Saved View Name or ID' must be text"],
	['Table', { table: picked('..') }, 'nothing was sent'],
])('%s: what makes no sense is named, and nothing is lost', async (_, parameters, message) => {
	await createTwo();
	const watching = await start(parameters);
	await expect(watching.poll()).rejects.toThrow(message);
	const mended = await start({}, { staticData: watching.staticData() });
	expect(await numbers(mended)).toEqual(['1', '2']);
});
