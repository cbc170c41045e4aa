/**
 * What n8n's assistant makes of the nodes' output schemas: it simulates nodes that write with an item built from the
 * schema, and shows a model the first 3,000 characters of it.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTCOME_NAMES } from '../../nodes/DataPlatform/bulk/outcome.ts';
import { root } from './builtNodes.cts';

interface Schema {
	type: string | string[];
	description?: string;
	format?: string;
	default?: unknown;
	enum?: string[];
	properties?: Record<string, Schema>;
	items?: Schema;
	additionalProperties?: boolean;
}

const FOLDER = 'dist/nodes/DataPlatform/__schema__';
const schemas = globSync(`${FOLDER}/**/*.json`, { cwd: root }).map((path): [string, Schema] => [
	path.slice(FOLDER.length + 1, -5),
	JSON.parse(readFileSync(join(root, path), 'utf8')) as Schema,
]);
const schemaOf = (name: string) => new Map(schemas).get(name)!;

const NOW = '2026-11-28T09:00:00.000Z';

/** A value as n8n 2.41 makes it for a simulated node: a schema's own value comes before its type. */
function placeholder({ type, format, default: preset, enum: choices, properties, items }: Schema): unknown {
	if (choices) return choices[0];
	if (preset !== undefined) return preset;
	const first = [type].flat()[0];
	if (first === 'object') return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inside]) => [name, placeholder(inside)]));
	if (first === 'array') return items ? [placeholder(items)] : [];
	if (first === 'string') return format === 'date-time' ? NOW : 'sample';
	return first === 'boolean' ? true : 1;
}

/** A record with the fields of its table, at the top of the output or inside. */
const records = (schema: Schema): Schema[] => {
	const inside = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])].flatMap(records);
	return schema.properties?.ver ? [schema, ...inside] : inside;
};

const RECORDS = ['get', 'getAll', 'getChanges', 'create', 'update', 'upsert', 'sync'].map((operation) => `v1.0.0/record/${operation}`);

test.each([...RECORDS, 'v1.0.0/attachment/upload', 'v1.0.0', 'v1.0.0/output'])(
	'%s says that a record has the fields of its table',
	(name) => {
		const found = records(schemaOf(name));
		expect(found).toHaveLength(1);
		expect(found[0]!.additionalProperties).toBe(true);
		// A model reads from the top, and may not read to the end.
		expect(Object.keys(found[0]!)[0]).toBe('description');
		expect(found[0]!.description).toMatch(/internal name/);
	},
);

test('no other schema names the columns of a record', () => {
	const named = schemas.filter(([, schema]) => records(schema).length > 0).map(([name]) => name);
	expect(named.toSorted()).toEqual([...RECORDS, 'v1.0.0/attachment/upload', 'v1.0.0', 'v1.0.0/output'].toSorted());
});

test('an item that n8n builds for a simulated write is one that a workflow goes on with', () => {
	expect(placeholder(schemaOf('v1.0.0/record/upsert'))).toEqual({
		outcome: 'inserted',
		id: 'sample',
		created: NOW,
		modified: NOW,
		ver: 1,
		// What only some items have.
		mergedInto: null,
		kept: null,
		previous: null,
		notRead: null,
	});
	expect(placeholder(schemaOf('v1.0.0'))).toEqual({ event: 'created', id: 'sample', created: NOW, modified: NOW, ver: 1 });
});

test('an outcome in a schema is one that an item may have, and no other', () => {
	const { outcome } = schemaOf('v1.0.0/record/upsert').properties!;
	expect(outcome!.enum).toEqual(OUTCOME_NAMES);
});

test.each(schemas)('%s is read whole by n8n', (_, schema) => {
	expect(JSON.stringify(schema, null, 2).length).toBeLessThan(3000);
});
