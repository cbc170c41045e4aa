import { unknownParameters } from '../../support/engine/knownParameters.cts';
import { properties } from '../../../nodes/DataPlatform/actions/index.ts';
import { ParameterReader } from '../../../nodes/DataPlatform/parameterKinds/parameter.ts';
import { wholeNumber } from '../../../nodes/DataPlatform/parameterKinds/kinds.ts';
import { upsertRules } from '../../../nodes/DataPlatform/parameters/write/matchRules.ts';
import { bulkOperation, itemOperation, OptionGroup } from '../../../nodes/DataPlatform/parameters/defineOperation.ts';
import { outputOf, simple } from '../../../nodes/DataPlatform/parameters/select/reading.ts';
import { requestSettings, skipAudit, timeout } from '../../../nodes/DataPlatform/parameters/requests.ts';
import { tableParameters } from '../../../nodes/DataPlatform/parameters/select/table.ts';
import { columnsToCreate } from '../../../nodes/DataPlatform/parameters/write/columns.ts';
import {
	createOptions,
	dryRun,
	importOptions,
	writeSettings,
	writesMatched,
} from '../../../nodes/DataPlatform/parameters/write/writing.ts';
import { writeItems } from '../../../nodes/DataPlatform/actions/record/writeItems.ts';

/**
 * The parameters of an operation: checked by the compiler in operations, and by the harness in
 * tests.
 */
const limit = wholeNumber('limit', { label: 'Limit', min: 1, preset: 1 });
const other = wholeNumber('other', { label: 'Other', min: 1, preset: 1 });
const entry = { value: 'made', name: 'Made', action: 'Made', description: 'Made for this test' };

test('an operation that reads a parameter which it does not show fails to compile', () => {
	const operation = itemOperation({
		...entry,
		fields: [...tableParameters, limit],
		options: requestSettings,
		execute: async (run, index) => ({
			json: {
				shown: [limit.of(run, index), timeout.of(run, index)],
				// @ts-expect-error it does not show it
				hidden: other.of(run, index),
				// @ts-expect-error a helper that reads Simplify, which the operation does not show
				helper: outputOf(run, index)({ id: 'a' }),
			},
		}),
	});
	expect(operation.properties.map(({ name }) => name)).toEqual([...['application', 'table', 'limit', 'options']]);
	expect([...operation.shown].map(([name, { path }]) => `${name}: ${path}`)).toEqual([
		...['application: application', 'table: table', 'limit: limit'],
		...['maxRetryWait: options.maxRetryWait', 'timeout: options.timeout'],
	]);
});

test('so does one that writes many records, or a file', () => {
	const create = bulkOperation({
		...entry,
		fields: [...tableParameters, columnsToCreate, simple],
		options: createOptions,
		execute: async (run, report) => {
			// @ts-expect-error Create shows nothing to match on
			await writeItems(run, report, (source) => writesMatched(run, source, 'create'));
			// @ts-expect-error nor what to do with what is found
			upsertRules(run, 0);
		},
	});
	const withoutColumns = bulkOperation({
		...entry,
		fields: [...tableParameters, simple],
		options: createOptions,
		// @ts-expect-error it does not show the mapper
		execute: async (run, report) => await writeItems(run, report, () => ({})),
	});
	const importing = bulkOperation({
		...entry,
		fields: tableParameters,
		options: importOptions,
		execute: async (run) => {
			upsertRules(run, 0);
			const kind = { mode: 'create', duplicates: 'merge', skipUnchanged: false } as const;
			writeSettings(run, 0, kind);
		},
	});
	expect([create.kind, withoutColumns.kind, importing.kind]).toEqual(['bulk', 'bulk', 'bulk']);
});

const record = { resource: 'record', table: 'orders' };

test('no list of options has more than ten entries', () => {
	const lists = properties.filter(({ type }) => type === 'collection');
	expect(lists.length).toBeGreaterThan(10);
	expect(Math.max(...lists.map(({ options = [] }) => options.length))).toBe(10);
});

test.each([
	[{ ...record, operation: 'getAll', limit: 5, options: { timeout: 3 } }, []],
	[{ ...record, operation: 'getAll', limt: 5, options: { timeuot: 3 } }, ['limt', 'options.timeuot']],
	[{ ...record, operation: 'create', recordId: 'x' }, ['recordId']],
	[
		{ ...record, operation: 'count', conditions: { condition: [{ field: 'a', value: 'b', operater: 'eq' }], conditon: [] } },
		['conditions.condition.operater', 'conditions.conditon'],
	],
	[{ ...record, operation: 'madeUp', limit: 5 }, []],
])('the harness rejects what the operation does not have: %j', (parameters, unknown) => {
	expect(unknownParameters(properties, parameters)).toEqual(unknown);
});

test('a switch is on once it is added, and off without it', () => {
	const operation = bulkOperation({
		...entry,
		fields: [],
		options: [dryRun, limit, new OptionGroup('requests', 'Requests', 'Their settings', [skipAudit])],
		execute: async () => {},
	});
	const [{ options = [] } = {}] = operation.properties;
	const rows = options.map((option) => [option.name, 'default' in option && option.default]);
	expect(rows).toEqual([...[['dryRun', true]], ...[['limit', 1]], ...[['requests', { settings: {} }]]]);
	const read = (set: unknown) =>
		new ParameterReader<string>(
			operation.shown,
			(_path, _index, preset) => set ?? preset,
			() => 'UTC',
		);
	expect([undefined, true, false].map((set) => dryRun.of(read(set), 0))).toEqual([false, true, false]);
});
