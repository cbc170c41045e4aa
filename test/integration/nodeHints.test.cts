/** When the editor shows which of the node's hints. */
import { NodeHelpers, Workflow, type IDataObject, type INode } from 'n8n-workflow';
import { NODE_TYPE, nodeTypes } from '../support/engine/engine.cts';

/** The beginnings of the hints for a node with this many input items. */
async function shownHints(parameters: IDataObject, itemCount = 1): Promise<string[]> {
	const { description } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1);
	const node: INode = {
		id: 'node',
		name: 'Node',
		type: NODE_TYPE,
		typeVersion: 1,
		position: [0, 0],
		parameters: parameters as INode['parameters'],
	};
	// Like the editor, which also stores the defaults.
	node.parameters = NodeHelpers.getNodeParameters(
		description.properties,
		node.parameters,
		true,
		false,
		node,
		description,
	)!;
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const items = Array.from({ length: itemCount }, () => ({ json: {} }));
	await workflow.expression.acquireIsolate?.();
	try {
		const isShown = (condition = '') =>
			workflow.expression.getParameterValue(condition, null, 0, 0, 'Node', items, 'manual', {});
		return (description.hints ?? [])
			.filter(({ displayCondition }) => isShown(displayCondition) === true)
			.map(({ message }) => message.split(/[.:]/, 1)[0]!);
	} finally {
		await workflow.expression.releaseIsolate?.();
	}
}

const on = (operation: string, more: IDataObject = {}) => ({
	resource: 'record',
	operation,
	table: { __rl: true, mode: 'list', value: 'contacts' },
	...more,
});

const mapper = (key: string, more: IDataObject = {}) => ({
	columns: {
		mappingMode: 'defineBelow',
		value: {},
		schema: [
			{ id: 'name', displayName: 'Name' },
			{ id: 'email', displayName: `E-mail${key}` },
		],
		...more,
	},
});
const keyed = (more?: IDataObject) => mapper(' (import key)', more);
const keyless = (more?: IDataObject) => mapper('', more);

const NO_KEY = 'The table has no import key to match records by';
const NOT_MAPPED = 'The import key has no value';
const ONE_BY_ONE = 'This operation sends a request for each item';
const NO_CONDITION = 'Add a condition';

const condition = { conditions: { condition: [{ field: 'age', operator: 'eq', value: '1' }] } };
const groups = { groups: { group: [{ matchType: 'or', ...condition }] } };

test.each<[what: string, parameters: IDataObject, itemCount: number, expected: string[]]>([
	['an upsert whose key is mapped', on('upsertMany', keyed({ value: { email: 'a' } })), 1, []],
	[
		'an upsert whose key has an expression',
		on('upsertMany', keyed({ value: { email: '={{ $json.missing }}' } })),
		1,
		[],
	],
	[
		'an upsert whose key is not mapped',
		on('upsertMany', keyed({ value: { email: null, name: 'a' } })),
		1,
		[NOT_MAPPED],
	],
	[
		'a sync whose key is not mapped',
		on('syncMany', keyed({ value: { name: 'a' } })),
		1,
		[NOT_MAPPED],
	],
	['an upsert of which nothing is mapped yet', on('upsertMany', keyed({ value: null })), 1, []],
	[
		'a key that is mapped automatically',
		on('upsert', keyed({ mappingMode: 'autoMapInputData' })),
		1,
		[],
	],
	['a match on other fields', on('upsertMany', { ...keyed(), matchOn: 'fields' }), 1, []],
	['a table without a key', on('upsertMany', keyless()), 1, [NO_KEY]],
	[
		'a table without a key, mapped automatically',
		on('syncMany', keyless({ mappingMode: 'autoMapInputData' })),
		1,
		[NO_KEY],
	],
	['the same matched by ID', on('upsertMany', { ...keyless(), matchOn: 'recordId' }), 1, []],
	['an update, which is matched by ID', on('updateMany', keyless()), 1, []],
	[
		'an update matched by key',
		on('updateMany', { ...keyless(), matchOn: 'importKey' }),
		1,
		[NO_KEY],
	],
	[
		'a key that is named',
		on('upsertMany', {
			...keyless(),
			options: { matching: { settings: { importKey: 'email' } } },
		}),
		1,
		[],
	],
	['no fields yet', on('upsertMany', keyless({ schema: [] })), 1, []],
	['few items, one by one', on('create', keyed()), 20, []],
	['many items, one by one', on('create', keyed()), 21, [ONE_BY_ONE]],
	['many updates, one by one', on('update', keyed()), 21, [ONE_BY_ONE]],
	['many items at once', on('createMany', keyed()), 21, []],
	['a deletion without a condition', on('deleteMany'), 1, [NO_CONDITION]],
	['a deletion with a condition', on('deleteMany', condition), 1, []],
	['a deletion with a group', on('deleteMany', groups), 1, []],
	['a deletion of all', on('deleteMany', { filterMode: 'none' }), 1, []],
	['reading without a condition', on('getAll', { filterMode: 'conditions' }), 1, []],
])('%s', async (_, parameters, itemCount, expected) => {
	expect(await shownHints(parameters, itemCount)).toEqual(expected);
});
