/**
 * The examples: what needs no n8n. The mappers contain the fields of their tables, as n8n's editor
 * stores them. Otherwise the editor marks them as incomplete. `UPDATE_EXAMPLES=1` writes the fields into the
 * files, and then `npm run format` formats them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NodeConnectionTypes, NodeHelpers, type INodeParameters, type ResourceMapperField, type ResourceMapperValue } from 'n8n-workflow';
import { defined, ITEMS_TYPE, loadColumns, NODE_TYPE, nodeTypes, runWorkflow, type Credential } from '../support/engine/engine.cts';
import { useDemoData } from './fixtures.cts';

const FOLDER = resolve(__dirname, '../../examples');

interface Example {
	nodes: Array<{ name: string; type: string; parameters: INodeParameters }>;
}

const read = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Example;
const mapperOf = ({ columns }: INodeParameters) => columns as unknown as ResourceMapperValue;

/** Every node of an example that has a mapper. */
const mappers = readdirSync(FOLDER)
	.filter((file) => file.endsWith('.json'))
	.flatMap((file) =>
		read(file)
			.nodes.filter(({ type, parameters }) => [NODE_TYPE, `${NODE_TYPE}Tool`].includes(type) && 'columns' in parameters)
			.map(({ name }) => [file, name] as const),
	);

const demo = useDemoData({ once: true });

/** What the editor loads and stores for a node's mapper. */
async function loadSchema(parameters: INodeParameters): Promise<ResourceMapperField[]> {
	const { properties } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const mapper = properties.find(
		(property) => property.name === 'columns' && NodeHelpers.displayParameter(parameters, property, null, null),
	);
	const method = mapper?.typeOptions?.resourceMapper?.resourceMapperMethod ?? '';
	const { fields } = await loadColumns(demo.credential, method, parameters);
	return fields.map((field) => ({ ...field, removed: false }));
}

test.each(mappers)("%s: '%s' contains the fields of its table, as the editor loads them", async (file, name) => {
	const example = read(file);
	const { parameters } = example.nodes.find((node) => node.name === name)!;
	const mapper = mapperOf(parameters);
	const schema = await loadSchema(parameters);
	expect(schema.length).toBeGreaterThan(0);
	if (process.env.UPDATE_EXAMPLES) {
		Object.assign(mapper, { schema, value: mapper.value ?? {} });
		writeFileSync(join(FOLDER, file), JSON.stringify(example, null, '\t'));
	}
	expect(mapper.schema).toEqual(schema);
});

/** The nodes of the report's example that write, in a workflow without the node that sets the report's values. */
function reportWorkflow() {
	const { nodes } = read('report-of-every-sync.json');
	const parametersOf = (name: string) => nodes.find((node) => node.name === name)!.parameters;
	const { assignments } = parametersOf('Report').assignments as unknown as { assignments: Array<{ name: string; value: string }> };
	const report = Object.fromEntries(assignments.map(({ name, value }) => [name, value]));
	const node = (name: string, more = {}) => ({ name, type: NODE_TYPE, parameters: { ...parametersOf(name), ...more } });
	const to = (next: string) => ({ main: [[{ node: next, type: NodeConnectionTypes.Main, index: 0 }]] });
	return {
		nodes: [
			{ name: 'Items', type: ITEMS_TYPE },
			{ ...node('Write contacts'), onError: 'continueRegularOutput' as const },
			node('Keep the report', { columns: defined(report) }),
		],
		connections: { Items: to('Write contacts'), 'Write contacts': to('Keep the report') },
	};
}

test('report-of-every-sync.json: if the token may not write the report, the run fails and says so, but still returns what was written', async () => {
	const token = await demo.sandbox.admin.createToken({
		name: 'contacts-only',
		type: 'role',
		permissions: [
			{ app: 'crm', table: 'contacts', allow: ['structure', 'read', 'create', 'update'] },
			{ app: 'crm', table: 'syncRuns', allow: ['structure', 'read'] },
		],
	});
	const person = { email: 'new@example.com', firstname: 'New', surname: 'Person' };
	const run = async (access: Credential) => await runWorkflow(reportWorkflow(), [{ json: person }], access);

	const result = await run({ ...demo.credential, token });
	expect(result.error).toMatchObject({
		message: expect.stringMatching(/^The role .*syncRuns/),
		node: { name: 'Keep the report' },
		context: { details: { outcome: 'failed', status: 403 } },
	});
	expect(result.output('Write contacts')[0]?.json).toMatchObject({ inserted: 1, failed: 0 });
	expect(await demo.values('email')).toContain(person.email);
	expect(await demo.records('syncRuns')).toEqual([]);

	const allowed = await run(demo.credential);
	expect(allowed.error).toBeUndefined();
	const [kept] = await demo.records('syncRuns');
	expect(kept?.fields).toMatchObject({ text: '0 new, 0 changed, 1 as they were.', unchanged: 1 });
});
