/** docs/operations.md is what its script writes; its items are as the nodes' schemas say. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationsPage, PAGE } from '../../scripts/operationsPage.mts';

const root = join(__dirname, '../..');
const SCHEMAS = join(root, 'nodes/DataPlatform/__schema__/v1.0.0');

interface Schema {
	type: string | string[];
	properties?: Record<string, Schema>;
	items?: Schema;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;

const outputs = Object.entries(readJson(join(root, 'scripts/exampleOutputs.json')) as Record<string, unknown>).filter(
	([, output]) => typeof output !== 'string',
);

function schemaOf(key: string): Schema {
	const path = join(SCHEMAS, `${key.replace('.', '/')}.json`);
	return readJson(existsSync(path) ? path : `${SCHEMAS}.json`) as Schema;
}

const typeOf = (value: unknown) => {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
};

/** Where an item differs from its schema. Other keys are fields of the table. */
function differences(value: unknown, schema: Schema, at = ''): string[] {
	const types = [schema.type].flat();
	const type = typeOf(value);
	const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
	if (!fits) return [`${at} is ${type}, not ${types.join(' or ')}`];
	if (Array.isArray(value)) {
		const { items } = schema;
		return items ? value.flatMap((entry) => differences(entry, items, `${at}[]`)) : [];
	}
	return Object.entries(schema.properties ?? {}).flatMap(([name, inside]) => {
		const entry = (value as Record<string, unknown>)[name];
		return entry === undefined ? [] : differences(entry, inside, `${at}.${name}`);
	});
}

test('the page is what the script writes: npm run docs', () => {
	expect(readFileSync(PAGE, 'utf8')).toBe(operationsPage());
});

test.each(outputs)('the item of %s fits its schema', (key, output) => {
	const { properties = {} } = schemaOf(key);
	expect(Object.keys(properties).filter((name) => name in (output as object))).not.toEqual([]);
	expect(differences(output, schemaOf(key))).toEqual([]);
});

test.each([
	[{ count: 1 }, []],
	[{ count: '1' }, ['.count is string, not integer']],
	[{ list: [{ name: 1 }] }, ['.list[].name is integer, not string']],
])('%j', (item, found) => {
	const name = { type: 'string' };
	const list = { type: 'array', items: { type: 'object', properties: { name } } };
	const schema = { type: 'object', properties: { count: { type: 'integer' }, list } };
	expect(differences(item, schema)).toEqual(found);
});
