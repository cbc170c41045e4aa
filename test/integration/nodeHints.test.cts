/** When the editor shows which of the node's hints. */
import { NodeHelpers, Workflow, type IDataObject, type INode } from 'n8n-workflow';
import { NODE_TYPE, nodeTypes, picked } from '../support/engine/engine.cts';

/** The beginnings of the hints for a node. */
async function shownHints(parameters: IDataObject): Promise<string[]> {
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
	node.parameters = NodeHelpers.getNodeParameters(description.properties, node.parameters, true, false, node, description)!;
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const items = [{ json: {} }];
	await workflow.expression.acquireIsolate?.();
	try {
		const isShown = (condition = '') => workflow.expression.getParameterValue(condition, null, 0, 0, 'Node', items, 'manual', {});
		return (description.hints ?? [])
			.filter(({ displayCondition }) => isShown(displayCondition) === true)
			.map(({ message }) => message.split(/[.:]/, 1)[0]!);
	} finally {
		await workflow.expression.releaseIsolate?.();
	}
}

const on = (operation: string, more: IDataObject = {}) => ({ resource: 'record', operation, table: picked('contacts'), ...more });

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

const NO_KEY = "The table's definition does not say which field is its import key";
const NO_CONDITION = 'Add a condition';

const condition = { conditions: { condition: [{ field: 'age', operator: 'eq', value: '1' }] } };
const groups = { groups: { group: [{ matchType: 'or', ...condition }] } };

test.each<[what: string, parameters: IDataObject, expected: string[]]>([
	['an upsert whose key is mapped', on('upsert', keyed({ value: { email: 'a' } })), []],
	['a key that is mapped automatically', on('upsert', keyed({ mappingMode: 'autoMapInputData' })), []],
	['a match on other fields', on('upsert', { ...keyed(), matchOn: 'fields' }), []],
	['a table without a key', on('upsert', keyless()), [NO_KEY]],
	['a table without a key, mapped automatically', on('sync', keyless({ mappingMode: 'autoMapInputData' })), [NO_KEY]],
	['the same matched by ID', on('upsert', { ...keyless(), matchOn: 'recordId' }), []],
	['an update, which is matched by ID', on('update', keyless()), []],
	['an update matched by key', on('update', { ...keyless(), matchOn: 'importKey' }), [NO_KEY]],
	['a key that is named', on('upsert', { ...keyless(), options: { matching: { settings: { importKey: 'email' } } } }), []],
	['no fields yet', on('upsert', keyless({ schema: [] })), []],
	['a deletion without a condition', on('deleteMany'), [NO_CONDITION]],
	['a deletion with a condition', on('deleteMany', condition), []],
	['a deletion with a group', on('deleteMany', groups), []],
	['a deletion of all', on('deleteMany', { filterMode: 'none' }), []],
	['reading without a condition', on('getAll', { filterMode: 'conditions' }), []],
])('the hints for %s', async (_, parameters, expected) => {
	expect(await shownHints(parameters)).toEqual(expected);
});
