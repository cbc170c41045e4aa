import { unknownParameters } from '../support/engine/knownParameters.cts';
import { properties } from '../../nodes/DataPlatform/actions/index.ts';
import { requestSettings, tableParameters } from '../../nodes/DataPlatform/descriptions/common.ts';
import { itemOperation } from '../../nodes/DataPlatform/descriptions/operation.ts';
import { storedPath, withoutGroups } from '../../nodes/DataPlatform/execution/optionGroups.ts';
import { outputOf } from '../../nodes/DataPlatform/execution/recordOutput.ts';

/** Parameter names: known to the compiler in operations, and to the harness in tests. */
const field = { displayName: 'Limit', name: 'limit', type: 'number', default: 1 } as const;

test('an operation that reads a parameter which it does not have fails to compile', () => {
	const operation = itemOperation({
		value: 'made',
		name: 'Made',
		action: 'Made',
		description: 'Made for this test',
		fields: [...tableParameters, field],
		options: requestSettings,
		execute: async (run, index) => ({
			known: [String(run.parameter('limit', index)), run.option('options.timeout', index, 1)],
			// @ts-expect-error misspelt
			field: String(run.parameter('limt', index)),
			// @ts-expect-error not one of the options
			option: run.option('options.timeuot', index, 1),
			// @ts-expect-error a helper that reads Simplify, which the operation does not have
			helper: outputOf(run, index)({ id: 'a' }),
		}),
	});
	expect(operation.fields.map(({ name }) => name)).toEqual([
		'application',
		'table',
		'limit',
		'options',
	]);
});

const record = { resource: 'record', table: 'orders' };

test('no list of options has more than seven entries', () => {
	const lists = properties.filter(({ type }) => type === 'collection');
	const long = lists.filter(({ options = [] }) => options.length > 7);
	expect(lists.length).toBeGreaterThan(10);
	expect(long.map(({ displayOptions }) => displayOptions?.show?.operation)).toEqual([]);
});

test('an option of a sub-collection is read by its name', () => {
	const stored = {
		dryRun: true,
		linkValues: { link: [{ field: 'settings' }] },
		requests: { settings: { batchSize: 5, timeout: '={{ 1 }}' } },
	};
	const paths = ['dryRun', 'linkValues.link', 'batchSize', 'timeout', 'skipAudit', 'requests'];
	expect(paths.map((name) => storedPath(stored, `options.${name}`))).toEqual([
		'options.dryRun',
		'options.linkValues.link',
		'options.requests.settings.batchSize',
		'options.requests.settings.timeout',
		'options.skipAudit',
		'options.requests',
	]);
	expect(storedPath(stored, 'batchSize')).toBe('batchSize');
	expect(storedPath('={{ $json }}', 'options.dryRun')).toBe('options.dryRun');
	expect(withoutGroups(stored)).toEqual({
		dryRun: true,
		linkValues: stored.linkValues,
		batchSize: 5,
		timeout: '={{ 1 }}',
	});
});

test.each([
	[{ ...record, operation: 'getAll', limit: 5, options: { timeout: 3 } }, []],
	[
		{ ...record, operation: 'getAll', limt: 5, options: { timeuot: 3 } },
		['limt', 'options.timeuot'],
	],
	[{ ...record, operation: 'createMany', recordId: 'x' }, ['recordId']],
	[
		{
			...record,
			operation: 'count',
			conditions: { condition: [{ field: 'a', value: 'b', operater: 'eq' }], conditon: [] },
		},
		['conditions.condition.operater', 'conditions.conditon'],
	],
	[{ ...record, operation: 'madeUp', limit: 5 }, []],
])('the harness refuses what the operation does not have: %j', (parameters, unknown) => {
	expect(unknownParameters(properties, parameters)).toEqual(unknown);
});
