/** From the rows of a file to the input of the plan. */
import type { IDataObject } from 'n8n-workflow';

import { RowReader } from '../../../nodes/DataPlatform/import/rowValues.ts';
import { mappingOf } from '../../../nodes/DataPlatform/parameters/files/rowFiles.ts';
import type { FileRow } from '../../../nodes/DataPlatform/rows/readRows.ts';
import type { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakeRun } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import type { PlanOptions } from '../../../nodes/DataPlatform/bulk/terms.ts';

const table = tableOf(
	fieldOf('email', 'text', { importKey: true }),
	{ ...fieldOf('surname', 'text', { required: true }), header: 'Last Name' },
	fieldOf('age', 'number'),
	fieldOf('tags', 'chips'),
	fieldOf('fullName', 'calculated'),
);

/** With fields that have the same names as keys that this node adds to a record. */
const withEvent = tableOf(fieldOf('email', 'text', { importKey: true }), fieldOf('event'), { ...fieldOf('state'), header: 'outcome' });

/** With fields whose names and headers differ in case only. */
const similar = tableOf(fieldOf('email'), { ...fieldOf('stage'), header: 'State' }, { ...fieldOf('x1'), header: 'Stage' });

/** With a field that has the name of a column that a file of rejected rows adds. */
const withRow = tableOf(fieldOf('email', 'text', { importKey: true }), fieldOf('row'));

const RECORD = ['id', 'created', 'modified', 'ver'];

interface Setup {
	table?: typeof table;
	planning?: Partial<PlanOptions>;
	/** `column=field` */
	mapping?: string[];
	hasId?: boolean;
	formulaGuard?: boolean;
}

const readerOf = (
	header: string[] | undefined,
	{ table: given = table, planning, mapping, hasId = false, formulaGuard = true }: Setup = {},
) =>
	new RowReader(
		{
			table: given,
			mapping: mapping?.map((entry) => {
				const [column, field] = entry.split('=') as [string, string];
				return { column, field };
			}),
			planning: { mode: 'upsert', empty: 'leave', unknownFields: 'error', duplicates: 'merge', isFromInput: !mapping, ...planning },
			hasId,
			form: { numbers: 'plain', listSeparator: ';' },
			formulaGuard,
		},
		header,
	);

/** An error's message with its hint. */
function messageOf(work: () => unknown): string {
	try {
		work();
	} catch (error) {
		const { message, hint } = error as InputError;
		return `${message} | ${hint}`;
	}
	throw new Error('It should have failed');
}

describe('columns', () => {
	test.each<[string[], Setup, Record<string, string>, string[]]>([
		[['email', 'age'], {}, { email: 'email', age: 'age' }, []],
		[['email', 'Stage', 'State'], { table: similar }, { email: 'email', Stage: 'x1', State: 'stage' }, []],
		[['EMAIL', 'last name'], {}, { EMAIL: 'email', 'last name': 'surname' }, []],
		[['email', 'id', 'created', 'ver'], {}, { email: 'email' }, ['id', 'created', 'ver']],
		[['email', 'fullName'], {}, { email: 'email', fullName: 'fullName' }, []],
		[['email', 'x', 'y'], { planning: { unknownFields: 'ignore' } }, { email: 'email' }, ['x', 'y']],
		[['email', '', ''], {}, { email: 'email' }, []],
		[['email', 'error', 'field', 'row'], {}, { email: 'email' }, []],
		[
			['email', 'error', 'field', 'row'],
			{ table: withRow, planning: { unknownFields: 'ignore' } },
			{ email: 'email', row: 'row' },
			['error', 'field'],
		],
		[['id', 'a'], { mapping: ['a=email'] }, { a: 'email' }, ['id']],
		[['Mail', 'Name', 'No.', ''], { mapping: ['Mail=email', 'No.=age'] }, { Mail: 'email', 'No.': 'age' }, ['Name']],
		[['id', 'age', 'ver'], { hasId: true, planning: { mode: 'update' } }, { age: 'age' }, ['ver']],
		[['ID', 'AGE'], { hasId: true, planning: { mode: 'update' } }, { AGE: 'age' }, []],
		[['Id', 'b'], { hasId: true, planning: { mode: 'update' }, mapping: ['b=age'] }, { b: 'age' }, []],
		[['id', 'b', 'c'], { hasId: true, planning: { mode: 'update' }, mapping: ['b=age'] }, { b: 'age' }, ['c']],
		[['id', 'created', 'modified', 'ver', 'event', 'email'], {}, { email: 'email' }, ['id', 'created', 'modified', 'ver', 'event']],
		[[...RECORD, 'event', 'field_event', 'email'], { table: withEvent }, { field_event: 'event', email: 'email' }, [...RECORD, 'event']],
		[[...RECORD, 'outcome', 'state', 'email'], { table: withEvent }, { state: 'state', email: 'email' }, [...RECORD, 'outcome']],
		[[...RECORD, 'event', 'email'], { table: withEvent, planning: { unknownFields: 'ignore' } }, { email: 'email' }, [...RECORD, 'event']],
		[['event', 'email'], { table: withEvent }, { event: 'event', email: 'email' }, []],
		[['a'], { mapping: ['a=email', 'a=surname'] }, { a: 'email, surname' }, []],
		[['a', 'b', 'b'], { mapping: ['a=email'] }, { a: 'email' }, ['b', 'b']],
		[['a', 'b', 'c', 'c'], { mapping: ['a=email', 'b=age'] }, { a: 'email', b: 'age' }, ['c', 'c']],
		[['age', 'surname'], { planning: { mode: 'update', matchOn: ['age'] } }, { age: 'age', surname: 'surname' }, []],
		[['surname'], { planning: { mode: 'create' } }, { surname: 'surname' }, []],
	])('%j %j', (header, setup, columns, ignoredColumns) => {
		expect(readerOf(header, setup).report).toEqual({ columns, ignoredColumns });
	});

	test('a column called __proto__ is one like any other', () => {
		const { columns } = readerOf(['email', '__proto__'], { mapping: ['email=email', '__proto__=age'] }).report;
		expect(Object.entries(columns)).toEqual([
			['email', 'email'],
			['__proto__', 'age'],
		]);
	});

	test.each<[string[], Setup, string[]]>([
		[
			['email', 'sirname', 'age'],
			{},
			["no field for the column 'sirname', did you mean 'surname'?", "The file's columns are: 'email', 'sirname', 'age'."],
		],
		[['email', 'STAGE'], { table: similar }, ["no field for the column 'STAGE', several fit: 'stage', 'x1' | Rename"]],
		[['email', 'xyzzy', 'y'], {}, ["no field for the columns 'xyzzy', 'y' | Rename", "are: 'email', 'surname', 'age', 'tags'."]],
		[['email', 'id', 'event'], {}, ["no field for the column 'event'"]],
		[['email', '', 'fulName'], {}, ["no field for the column 'fulName' |", "fields are: 'email', 'surname', 'age', 'tags'."]],
		[['email', ...Array.from({ length: 10 }, (_, at) => `x${at}`)], {}, ["'x8', 'x9' |"]],
		[['email', ...Array.from({ length: 30 }, (_, at) => `x${at}`)], {}, ["'x9' and 20 more", "'x8' and 21 more."]],
		[['email', 'age', 'age'], {}, ["the file has several columns called 'age'", 'Rename or remove one of them in the file.']],
		[
			['surname', 'Last Name', 'email'],
			{},
			["the columns 'surname' and 'Last Name' both belong to the field", 'Rename or remove one of them in the file.'],
		],
		[['age', ''], {}, ["no column for 'email', by which records are found", "The file's columns are: 'age'."]],
		[['email', 'age'], { planning: { mode: 'update', matchOn: ['surname'] } }, ["no column for 'surname', by which"]],
		[['email'], { planning: { mode: 'create' } }, ["no column for 'surname', which is required", "The file's columns are: 'email'."]],
		[['age'], { hasId: true, planning: { mode: 'update' } }, ["no column 'id' with the record IDs"]],
		[['id', 'x'], { hasId: true, planning: { mode: 'update' } }, ["no field for the column 'x'"]],
		[['id'], { hasId: true, planning: { mode: 'update' } }, ['no column of the file is a field']],
		[
			['a1@x.com', 'Fox', '36'],
			{},
			[
				"the first row has no name of a field of table 'People': 'a1@x.com', 'Fox', '36'. Does the file have a header?",
				"Add a first row with the names of fields, or set 'Header Row'",
			],
		],
		[['', ''], {}, ["no column for 'email'", 'The file has no columns.']],
		[['error', 'field', 'row'], {}, ["no column for 'email'", "The file's columns are: 'error', 'field', 'row'."]],
		[
			[...RECORD, 'event', 'email'],
			{ table: withEvent },
			["the column 'event' may be the field 'event', or what this node adds to a record", "Rename it to 'field_event' if it is the field"],
		],
		[
			[...RECORD, 'outcome', 'email'],
			{ table: withEvent },
			["the column 'outcome' may be the field 'state'", "Rename it to 'state' if it is the field"],
		],
		[['Mail'], { mapping: ['mail=email'] }, ["no column 'mail'", "The file's columns are: 'Mail'."]],
		[['a', 'a'], { mapping: ['a=email'] }, ["several columns called 'a'"]],
		[['id', 'a', 'id'], { hasId: true, planning: { mode: 'update' }, mapping: ['a=age'] }, ["several columns called 'id'"]],
		[['email', 'email (net)'], {}, ["no field for the column 'email (net)'"]],
		[['a'], { mapping: ['a=Email'] }, ["has no field 'Email'", "Choose it under 'Column Mapping'."]],
		[['a'], { mapping: ['a=fullName'] }, ["'fullName' is read-only"]],
	])('%j %j is an error', (header, setup, parts) => {
		const message = messageOf(() => readerOf(header, setup));
		for (const part of parts) expect(message).toContain(part);
		expect(message).toMatch(/^Nothing was sent: /);
	});

	test.each([
		['a=nope', "has no field 'nope'"],
		['a=fullName', 'is read-only'],
	])('NDJSON, mapped as %s, is an error', (entry, part) => {
		expect(messageOf(() => readerOf(undefined, { mapping: [entry] }))).toContain(part);
	});
});

describe('rows of CSV', () => {
	const header = ['email', 'age', 'tags', ''];
	const row = (...cells: string[]): FileRow => ({ row: 5, cells });

	test.each<[string[], Record<string, unknown>]>([
		[['a@x', '7', 'b;c', ''], { email: 'a@x', age: '7', tags: ['b', 'c'] }],
		[['a@x', '', '', ''], { email: 'a@x', age: '', tags: '' }],
		[["'=a", "'7", '', ''], { email: '=a', age: "'7", tags: '' }],
		[['a@x', '7', '', '', '', ''], { email: 'a@x', age: '7', tags: '' }],
		// Only the header ends with a delimiter.
		[['a@x', '7', ''], { email: 'a@x', age: '7', tags: '' }],
	])('%j', (cells, values) => {
		expect(readerOf(header).read(row(...cells))).toEqual({ index: 5, values, problems: [] });
	});

	test('without the guard, apostrophes stay', () => {
		const read = readerOf(header, { formulaGuard: false }).read(row("'=a", '', '', ''));
		expect(read).toMatchObject({ values: { email: "'=a" } });
	});

	test.each<[FileRow, string]>([
		[row('a@x'), 'the row has 1 cell, the header has 4'],
		[row('a@x', '7'), 'the row has 2 cells, the header has 4'],
		[row('a@x', '7', '', '', 'more'), 'the row has 5 cells, the header has 4'],
		[row('a@x', '7', '', '', '', 'more'), 'the row has 6 cells, the header has 4'],
		[row('a@x', '7', '', 'stray'), 'the row has a value in column 4, which has no name'],
		[{ row: 5, cells: ['a'], problem: 'has NUL characters' }, 'the row has NUL characters'],
	])('%j is rejected', (given, message) => {
		expect(readerOf(header).read(given)).toEqual({ message });
	});

	test('a value in a column without a name is ignored if unknown ones are', () => {
		const reader = readerOf(header, { planning: { unknownFields: 'ignore' } });
		expect(reader.read(row('a@x', '7', '', 'stray'))).toMatchObject({ values: { email: 'a@x' } });
	});

	test('text that a read-only field would reject is not read', () => {
		const locked = tableOf(fieldOf('email', 'text', { importKey: true }), fieldOf('born', 'date', { readOnly: true }));
		const reader = readerOf(['email', 'born'], { table: locked });
		const values = { email: 'a@x', born: 'long ago' };
		expect(reader.read(row('a@x', 'long ago'))).toEqual({ index: 5, values, problems: [] });
	});

	test('the ID comes from its column', () => {
		const reader = readerOf(['age', 'id'], { hasId: true, planning: { mode: 'update' } });
		expect(reader.read(row('7', 'r1'))).toMatchObject({ id: 'r1', values: { age: '7' } });
	});

	test('a text that a field rejects is a problem of that field', () => {
		const reader = new RowReader(
			{
				table,
				planning: { mode: 'upsert', empty: 'leave', unknownFields: 'error', duplicates: 'merge' },
				hasId: false,
				form: { numbers: 'comma', listSeparator: '' },
				formulaGuard: true,
			},
			['email', 'age'],
		);
		expect(reader.read(row('a@x', '1.5'))).toEqual({
			index: 5,
			values: { email: 'a@x' },
			problems: [{ field: 'age', message: `'age' accepts a number with a decimal comma, not "1.5"` }],
		});
	});
});

describe('lines of NDJSON', () => {
	const line = (values: Record<string, unknown>): FileRow => ({ row: 3, line: JSON.stringify(values), values });

	test.each<[Record<string, unknown>, Setup, object]>([
		[{ email: 'a@x', age: 7 }, {}, { values: { email: 'a@x', age: 7 } }],
		[{ EMAIL: 'a@x' }, {}, { values: { email: 'a@x' } }],
		[{ email: 'a@x', error: 'e', field: '', row: 3 }, {}, { values: { email: 'a@x' } }],
		[{ email: 'a@x', error: 'e', field: '', row: 3 }, { table: withRow }, { values: { email: 'a@x', error: 'e', field: '', row: 3 } }],
		[{ email: 'a@x', id: 'r1' }, {}, { values: { email: 'a@x' }, id: undefined }],
		[
			{ age: 7, id: 'r1' },
			{ hasId: true, planning: { mode: 'update' } },
			{ values: { age: 7 }, id: 'r1' },
		],
		[{ Mail: 'a@x', x: 1 }, { mapping: ['Mail=email'] }, { values: { email: 'a@x' } }],
		[{ x: 1 }, { mapping: ['Mail=email'] }, { values: { email: undefined } }],
	])('%j %j', (values, setup, expected) => {
		expect(readerOf(undefined, setup).read(line(values))).toStrictEqual({ index: 3, id: undefined, ...expected });
	});

	test.each<[FileRow, string]>([
		[{ row: 3, line: 'x', problem: 'is not valid JSON' }, 'the line is not valid JSON'],
		[line({ email: 'a@x', Email: 'b@x' }), "'email' and 'Email' are the same field"],
	])('%j is rejected', (row, error) => {
		expect(readerOf(undefined).read(row)).toMatchObject({ message: expect.stringContaining(error) });
	});
});

describe('the entries of a mapping list', () => {
	const entriesOf = async (given: unknown) => {
		const columnMapping = { column: given } as IDataObject;
		const { run } = await fakeRun({ mappingMode: 'defineBelow', columnMapping });
		return () => mappingOf(run, 0);
	};

	test('columns and fields, without the spaces around them', async () => {
		expect((await entriesOf([{ column: ' No. ', field: 'age ' }]))()).toEqual([{ column: 'No.', field: 'age' }]);
	});

	test.each<[unknown, string]>([
		[undefined, "'Column Mapping' is empty"],
		[[], "'Column Mapping' is empty"],
		[[{ column: ' ', field: 'age' }], "An entry of 'Column Mapping' names no column of the file"],
		[[{ column: 'a' }], "'Column Mapping' names no field for the column 'a'"],
		[[{ column: 'a', field: ' ' }], "'Column Mapping' names no field for the column 'a'"],
		[
			[
				{ column: 'a', field: 'age' },
				{ column: 'b', field: 'age' },
			],
			"'Column Mapping' has two columns for 'age'",
		],
	])('%j is an error', async (given, message) => {
		expect(await entriesOf(given)).toThrow(
			expect.objectContaining({ message, hint: 'Correct it, or remove the entry.', field: 'Column Mapping' }),
		);
	});
});
