/** Table: Get, Expected Fields: what a table lacks of what a workflow expects. */
import { expectedTable, tableDifferences, type ExpectedTable } from '../../../nodes/DataPlatform/actions/table/differences.ts';
import { tableOutput } from '../../../nodes/DataPlatform/actions/table/output.ts';
import { fieldOf, tableOf } from '../fixtures.cts';

const headed = (name: string, header: string, type = 'text') => ({ ...fieldOf(name, type), header });
const linkTo = (linkTableId: string | undefined, multiple?: boolean) => fieldOf('company', 'schema_link', { linkTableId, multiple });
const table = tableOf(fieldOf('email', 'text', { importKey: true }), headed('phone', 'Phone'), headed('age', 'Age', 'number'));
const differences = (expected: unknown, now = table) => tableDifferences(expectedTable(expected) as ExpectedTable, now);

test.each([
	['its own output', tableOutput(table)],
	['the fields of its own output', tableOutput(table).fields],
	['names', ['email', 'age']],
	['one name', 'email'],
	['other values of a field', [{ name: 'email', required: true, readOnly: true, note: 'x' }]],
	['a key that does not matter', { fields: ['email'], importKey: undefined }],
])('no difference: %s', (_, expected) => {
	expect(differences(expected)).toEqual([]);
});

test.each([
	[[], 'names no fields'],
	[undefined, 'names no fields'],
	[null, 'names no fields'],
	['', 'names no fields'],
	[[null], 'names no fields'],
	[[{ type: 'text' }], 'names no fields'],
	[[['email']], 'names no fields'],
	[{}, 'names no fields'],
	[{ fields: [] }, 'names no fields'],
	[3, 'names no fields'],
	[['email', ''], 'names no field in entry 2 of 2'],
	[['', 'email', null], 'names no field in entry 1 of 3'],
	[{ fields: [{ name: 'email' }, { type: 'text' }] }, 'names no field in entry 2 of 2'],
])('no fields: %j', (given, problem) => {
	expect(expectedTable(given)).toBe(problem);
});

test('a field that is gone, with what is called alike', () => {
	expect(differences(['email', 'mail', 'phon', 'xyz'])).toEqual([
		{ field: 'mail', difference: 'missing', message: "The field 'mail' is gone" },
		{ field: 'phon', difference: 'missing', message: "The field 'phon' is gone, did you mean 'phone'?" },
		{ field: 'xyz', difference: 'missing', message: "The field 'xyz' is gone" },
	]);
});

test('a field that has another name now, by its header', () => {
	const before = tableOutput(tableOf(headed('tel', 'Phone'), headed('age', 'Age', 'number')));
	expect(differences(before.fields)).toEqual([
		{ field: 'tel', difference: 'renamed', renamedTo: 'phone', message: "The field 'tel' is gone; 'phone' has its header 'Phone'" },
	]);
	const twice = tableOf(headed('one', 'Phone'), headed('two', 'Phone'));
	expect(differences([{ name: 'tel', header: 'Phone' }], twice)).toMatchObject([{ difference: 'missing' }]);
	// The other one is expected by its own name.
	expect(differences([{ name: 'tel', header: 'Phone' }, 'phone'])).toMatchObject([{ field: 'tel', difference: 'missing' }]);
});

test('another type, read-only now, another key', () => {
	const before = tableOutput(table);
	const now = tableOf(fieldOf('email'), headed('phone', 'Phone', 'calculated'), fieldOf('age', 'number', { importKey: true }));
	expect(differences(before, now)).toEqual([
		{ field: 'phone', difference: 'type', message: "The field 'phone' has the type 'calculated', not 'text'" },
		{ field: 'phone', difference: 'readOnly', message: "The field 'phone' is read-only now" },
		{ field: 'email', difference: 'importKey', message: "The import key is 'age', not 'email'" },
	]);
	expect(differences(['phone'], now)).toEqual([]);
	expect(differences({ fields: ['phone'], importKey: null }, now)).toEqual([
		{ field: 'age', difference: 'importKey', message: "The import key is 'age', not none" },
	]);
	expect(differences(before, tableOf(fieldOf('email'), ...table.fields.slice(1)))).toEqual([
		{ field: 'email', difference: 'importKey', message: "The import key is none, not 'email'" },
	]);
});

describe('a link', () => {
	const one = linkTo('companies');
	const several = linkTo('companies', true);
	const multiple = (message: string) => ({ field: 'company', difference: 'multiple', message });
	const linkedTable = (to: string) => ({
		field: 'company',
		difference: 'linkedTable',
		message: `The field 'company' links to ${to}, not to 'companies'`,
	});

	test.each([
		['one that became several', one, several, [multiple("The field 'company' links to several records, not to one")]],
		['several that became one', several, one, [multiple("The field 'company' links to one record, not to several")]],
		['to another table', one, linkTo('towns'), [linkedTable("the table 'towns'")]],
		['to a table that is not known', one, linkTo(undefined), [linkedTable('an unknown table')]],
		['to an unknown table before', linkTo(undefined), one, []],
		['unchanged', several, several, []],
		[
			'that is text now',
			one,
			fieldOf('company'),
			[{ field: 'company', difference: 'type', message: "The field 'company' has the type 'text', not 'schema_link'" }],
		],
	])('%s', (_, before, now, expected) => {
		expect(differences(tableOutput(tableOf(before)), tableOf(now))).toEqual(expected);
	});

	test('only what is expected is compared', () => {
		const now = tableOf(linkTo('towns', true));
		expect(differences([{ name: 'company', type: 'schema_link' }], now)).toEqual([]);
		expect(differences([{ name: 'company', multiple: false }], now)).toMatchObject([{ difference: 'multiple' }]);
		expect(differences([{ name: 'email', linkTableId: 'towns' }])).toMatchObject([{ difference: 'type' }]);
	});
});
