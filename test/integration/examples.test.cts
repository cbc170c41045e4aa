/**
 * The mappers in the examples contain the fields of their tables, as n8n's editor stores them.
 * Otherwise the editor marks them as incomplete. `UPDATE_EXAMPLES=1` writes the fields into the
 * files, and then `npm run format` formats them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
	NodeHelpers,
	type INodeParameters,
	type ResourceMapperField,
	type ResourceMapperValue,
} from 'n8n-workflow';
import { loadColumns, NODE_TYPE, nodeTypes, type Credential } from '../support/engine/engine.cts';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

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
			.nodes.filter(
				({ type, parameters }) =>
					[NODE_TYPE, `${NODE_TYPE}Tool`].includes(type) && 'columns' in parameters,
			)
			.map(({ name }) => [file, name] as const),
	);

let sandbox: RunningSandbox;
let credential: Credential;

beforeAll(async () => {
	sandbox = await startSandbox();
	credential = { baseUrl: sandbox.baseUrl, token: sandbox.tokens.role };
});
afterAll(() => sandbox.stop());

/** What the editor loads and stores for a node's mapper. */
async function loadSchema(parameters: INodeParameters): Promise<ResourceMapperField[]> {
	const { properties } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const mapper = properties.find(
		(property) =>
			property.name === 'columns' && NodeHelpers.displayParameter(parameters, property, null, null),
	);
	const method = mapper?.typeOptions?.resourceMapper?.resourceMapperMethod ?? '';
	const { fields } = await loadColumns(credential, method, parameters);
	return fields.map((field) => ({ ...field, removed: false }));
}

test.each(mappers)("%s: '%s' holds its table's fields", async (file, name) => {
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
