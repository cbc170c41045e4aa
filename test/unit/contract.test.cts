import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from '../../nodes/DataPlatform/api/endpoints.ts';
import { FIELD_TYPES, isWritable } from '../../nodes/DataPlatform/fields/index.ts';
import { fieldOf } from './fixtures.cts';

test('the words that the contract has in place of a record ID are never one', () => {
	const contract = readFileSync(join(__dirname, '../../contract/openapi.yaml'), 'utf8');
	const words = [...contract.matchAll(/^ {2}\/\{table\}\/data\/(\w+)/gm)].map(([, word]) => word!);
	expect(words).toContain('bulk');
	for (const word of words) expect(() => paths.record({ table: 'contacts' }, word)).toThrow("can't be the ID");
});

test('every field type of the contract has an entry, and no other has one', () => {
	const contract = readFileSync(join(__dirname, '../../contract/openapi.yaml'), 'utf8');
	const names = /\n    FieldType:\n      type: string\n      enum:\n((?: {8}- \w+\n)+)/.exec(contract)![1]!;
	expect(Object.keys(FIELD_TYPES)).toEqual([...names.matchAll(/- (\w+)/g)].map(([, name]) => name));
});

test.each(['buttonform', 'button', 'freehtmlinput', 'freehtml', 'calculated', 'calculatedfield'])(
	'%s is never offered as writable',
	(type) => {
		expect(isWritable(fieldOf('f', type))).toBe(false);
	},
);

test('docs/values.md says what each field type accepts', () => {
	const page = readFileSync(join(__dirname, '../../docs/values.md'), 'utf8');
	const writable = Object.keys(FIELD_TYPES).filter((type) => isWritable(fieldOf('f', type)));
	expect(writable).toContain('text');
	expect(writable.filter((type) => !page.includes(`\`${type}\``))).toEqual([]);
});
