/** What the trigger's parameters may contain. */
import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { located, useHarness } from './fixtures.cts';
import { watchedOrders } from './triggerFixtures.cts';

const harness = useHarness();
const { start, create, emitted } = watchedOrders(harness, { startFrom: 'beginning' });

const option = (name: string, value: unknown) => ({ options: { [name]: value } }) as IDataObject;

test.each<[string, IDataObject]>([
	['no maximum', option('maxRecordsPerPoll', null)],
	['no overlap', option('overlap', null)],
	['no timeout', option('timeout', null)],
	['a timeout longer than a timer', option('timeout', 1e12)],
	['no fields to load', option('fieldsToLoad', null)],
	['fields to load as text', option('fieldsToLoad', 'number, buyer')],
	['watched fields as text', option('watchedFields', 'buyer')],
	['no saved view', option('savedView', null)],
	['no application', { application: located(null) }],
])('%s: the trigger works as with the default', async (_, parameters) => {
	await create('1', '2');
	const watching = await start(parameters);
	expect(await emitted(watching)).toEqual(['created 1', 'created 2']);
	expect(await emitted(watching)).toBeNull();
});

test.each<[string, IDataObject, string]>([
	['Trigger On', { triggerOn: 'removed' }, "'Trigger On' must be"],
	['Start From', { startFrom: 'yesterday' }, "'Start From' must be"],
	['Max Records', option('maxRecordsPerPoll', 'many'), `'Max Records per Poll' must be a whole number from 1 to 10000, not "many"`],
	['Overlap', option('overlap', -1), "'Overlap (Seconds)' must be a number from 0 to 86400, not -1"],
	['Timeout (Seconds)', option('timeout', 0), "'Timeout (Seconds)' must be a number at least 0.001"],
	['Output Fields', option('fieldsToLoad', 5), "has no field '5' to load"],
	['Output Fields', option('fieldsToLoad', [true]), "'Output Field Names or IDs' must be text, not a boolean"],
	['Watched Fields', option('watchedFields', '={{ [] }}'), "'Watched Field Names or IDs' is empty"],
	['Watched Fields', option('watchedFields', ['buyer', 'nope']), "has no field 'nope'"],
	['Watched Fields', option('watchedFields', ['__proto__']), "has no field '__proto__'"],
	['Date', { startFrom: 'date', startDate: null }, "'Date' must be a date, it is empty"],
	['Table', { table: picked('  ') }, "'Table' is empty"],
	['Saved View', option('savedView', '={{ null }}'), "'Saved View Name or ID' is empty"],
	['Table', { table: picked('..') }, 'Nothing was sent'],
])('%s: an invalid value is named, and nothing is lost', async (_, parameters, message) => {
	await create('1', '2');
	const watching = await start(parameters);
	await expect(watching.poll()).rejects.toThrow(message);
	const mended = await start({}, { staticData: watching.staticData() });
	expect(await emitted(mended)).toEqual(['created 1', 'created 2']);
});

test.each([option('watchedFields', ['nope']), option('fieldsToLoad', ['nope'])])(
	'%j: the first poll says so, before anything changes',
	async (options) => {
		const watching = await start({ startFrom: 'now', ...options });
		await expect(watching.poll()).rejects.toThrow("has no field 'nope'");
	},
);
