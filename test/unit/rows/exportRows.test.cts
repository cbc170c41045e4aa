/** Records as lines of a file. */
import { csvHeader, csvRecord, exportColumns, type CsvFormat } from '../../../nodes/DataPlatform/rows/exportRows.ts';
import type { FieldDefinition, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, storedOf, tableOf } from '../fixtures.cts';

const FORM: CsvFormat = { delimiter: ',', byteOrderMark: false, formulaGuard: true };

const withHeader = (name: string, header: string, type?: string): FieldDefinition => ({ ...fieldOf(name, type), header });

const nameOf = ({ name }: { name: string }) => name;
const headerOf = ({ header }: { header: string }) => header;
const prefixed = (name: string) => (/^(id|error|field_error)$/.test(name) ? `field_${name}` : name);

type NameOf = Parameters<typeof exportColumns>[2];

describe('columns', () => {
	const titles = (fields: FieldDefinition[], names: NameOf, chosen: string[]) =>
		exportColumns(tableOf(...fields), chosen, names, prefixed)
			.map(({ title }) => title)
			.slice(1, -3);

	test('the ID first, what the platform says of the record last', () => {
		const columns = exportColumns(tableOf(fieldOf('a')), [], nameOf, prefixed);
		expect(columns.map(({ title }) => title)).toEqual(['id', 'a', 'created', 'modified', 'ver']);
		const record = { ...storedOf({ id: 'r1', fields: { a: 5 } }), ver: 3 };
		expect(columns.map(({ value }) => value(record))).toEqual([
			...['r1', 5],
			...['2026-01-01T00:00:00.501Z', '2026-01-01T00:00:00.501Z', 3],
		]);
	});

	test.each<[string, FieldDefinition[], NameOf, string[], string[]]>([
		['all fields', [fieldOf('b'), fieldOf('a')], nameOf, [], ['b', 'a']],
		['chosen ones, in their order', [fieldOf('b'), fieldOf('a')], nameOf, ['a', 'b'], ['b', 'a']],
		['one of them', [fieldOf('b'), fieldOf('a')], nameOf, ['a'], ['a']],
		['what can only be read too', [fieldOf('a', 'calculated')], nameOf, [], ['a']],
		['headers', [withHeader('a', ' Unit Price ')], headerOf, [], ['Unit Price']],
		['no header', [withHeader('a', ' ')], headerOf, [], ['a']],
		['a header twice', [withHeader('a', 'Name'), withHeader('b', 'name '), withHeader('c', 'City')], headerOf, [], ['a', 'b', 'City']],
		['a header that is the name of another field', [withHeader('a', 'B'), withHeader('b', 'City')], headerOf, [], ['a', 'City']],
		['a header that another field has which is not chosen', [withHeader('a', 'Name'), withHeader('b', 'Name')], headerOf, ['a'], ['a']],
		['a header that is a column of every file', [withHeader('a', 'ID')], headerOf, [], ['a']],
		[
			'headers that would be read as something else',
			[withHeader('a', 'error'), withHeader('b', ' field_error ')],
			headerOf,
			[],
			['a', 'b'],
		],
		['a header in other letters', [withHeader('a', 'Error')], headerOf, [], ['Error']],
		['a field with such a name', [fieldOf('id')], nameOf, [], ['field_id']],
	])('%s', (_, fields, names, chosen, expected) => {
		expect(titles(fields, names, chosen)).toEqual(expected);
	});

	test('a value that the record does not have does not come from its prototype', () => {
		const columns = exportColumns(tableOf(fieldOf('constructor')), [], nameOf, prefixed);
		expect(columns[1]!.value(storedOf({ id: 'r1', fields: {} }))).toBeUndefined();
	});
});

describe('cells', () => {
	const [, column] = exportColumns(tableOf(fieldOf('a')), [], nameOf, prefixed);

	test.each<[JsonValue | undefined, string, string]>([
		['text', 'text', 'text'],
		['', '""', '""'],
		[null, '""', '""'],
		[undefined, '""', '""'],
		[0, '0', '0'],
		[-1.5, '-1.5', '-1.5'],
		[1e21, '1e+21', '1e+21'],
		[true, 'true', 'true'],
		['=1+1', "'=1+1", '=1+1'],
		['-1', "'-1", '-1'],
		["'=1", "''=1", "'=1"],
		["it's", "it's", "it's"],
		['a,"b"', '"a,""b"""', '"a,""b"""'],
		['a\nb', '"a\nb"', '"a\nb"'],
		[' a', '" a"', '" a"'],
		[['a', 'b'], '"[""a"",""b""]"', '"[""a"",""b""]"'],
		[['=1'], '"[""=1""]"', '"[""=1""]"'],
		['a;=1+1', "a;'=1+1", 'a;=1+1'],
		[['a;@b'], `"[""a;'@b""]"`, '"[""a;@b""]"'],
		[{ amount: 1, currency: 'EUR' }, '"{""amount"":1,""currency"":""EUR""}"', '"{""amount"":1,""currency"":""EUR""}"'],
	])('%j is %j with the guard, else %j', (value, guarded, plain) => {
		const record = storedOf({ id: 'r1', fields: value === undefined ? {} : { a: value } });
		const line = (form: CsvFormat) => csvRecord(record, [column!], form);
		expect(line(FORM)).toBe(`${guarded}\r\n`);
		expect(line({ ...FORM, formulaGuard: false })).toBe(`${plain}\r\n`);
	});

	test.each<[Partial<CsvFormat>, string]>([
		[{}, "a,'=b\r\n"],
		[{ formulaGuard: false }, 'a,=b\r\n'],
		[{ byteOrderMark: true }, "\ufeffa,'=b\r\n"],
		[{ delimiter: ';' }, "a;'=b\r\n"],
	])('the header, %j', (form, line) => {
		const columns = ['a', '=b'].map((title) => ({ title, value: () => null }));
		expect(csvHeader(columns, { ...FORM, ...form })).toBe(line);
	});
});
