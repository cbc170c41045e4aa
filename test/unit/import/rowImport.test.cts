/** Import From File and Export to File: rows in, records out, and the file of rejected rows. */
import { gzipSync } from 'node:zlib';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { GrowingFile } from '../../../nodes/DataPlatform/input/binaryStore.ts';
import { NAMES_NO_FIELD } from '../../../nodes/DataPlatform/bulk/outcome.ts';
import { LinkResolver } from '../../../nodes/DataPlatform/bulk/links/linkResolver.ts';
import { WritePipeline, type OnRow } from '../../../nodes/DataPlatform/bulk/pipeline.ts';
import { ProgressLog } from '../../../nodes/DataPlatform/run/progressLog.ts';
import { certainThrough, RowImport } from '../../../nodes/DataPlatform/import/rowImport.ts';
import { RowReader } from '../../../nodes/DataPlatform/import/rowValues.ts';
import type { FileRow } from '../../../nodes/DataPlatform/rows/readRows.ts';
import { RejectedLines } from '../../../nodes/DataPlatform/rows/rejectedRows.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakeRun, locator, runNode, TABLE, type Given } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { httpResponse } from '../stubPlatform.cts';
import { StubTables } from '../stubTables.cts';
import type { ItemOutcome, Plan, PlanInput } from '../../../nodes/DataPlatform/bulk/terms.ts';

const people = {
	...tableOf(
		fieldOf('name', 'text', { importKey: true }),
		fieldOf('age', 'number'),
		fieldOf('born', 'date'),
		fieldOf('at', 'datetime'),
		fieldOf('tags', 'chips'),
		{ ...fieldOf('sum', 'calculated'), header: 'The Sum' },
	),
	id: 'people',
};

const fullDisk = () => {
	throw new Error('disk full');
};

interface Import extends Omit<Given, 'parameters'> {
	options?: INodeParameters;
	parameters?: INodeParameters;
	/** The request that the platform answers differently. */
	respond?: Parameters<StubTables['client']>[0];
}

/** Imports one file into a table that has Ada. */
async function importFile(text: string | Buffer | Error, { options = {}, parameters, respond, ...given }: Import = {}) {
	const tables = new StubTables({ people: { r1: { name: 'Ada', age: 1 } } }, { people });
	const run = await runNode('record: importFromFile', {
		serve: (options) => tables.serve(options, respond),
		items: [{ json: {}, binary: { data: { id: 'f', fileName: 'people.csv', mimeType: 'text/csv', data: '' } } }],
		files: { f: text },
		...given,
		parameters: { ...TABLE, ...parameters, options },
	});
	const records = tables.tables.people!.map(({ fields }) => fields);
	return { ...run, result: run.json[0] ?? {}, records, tables };
}

const details = (error: { context: IDataObject } | undefined) => (error?.context.details ?? {}) as IDataObject;

describe('the rows of a file', () => {
	test('have one outcome each, and rejected ones are in a file', async () => {
		const { result, records, stored, hints, output, openStreams } = await importFile(
			`name,age,The Sum\r\nAda,2,0\r\nBob,x,0\r\n,4,0\r\n"C, D",5,0\r\n${'e'.repeat(41)},6,0\r\n`,
		);
		expect(result).toEqual({
			file: 'people.csv',
			...{ inserted: 1, updated: 1, unchanged: 0, written: 0, found: 0, skipped: 0 },
			...{ notFound: 0, failed: 3, unknown: 0, rows: 5, rejected: 3 },
			confirmedThroughRow: 6,
			errors: [
				{ count: 1, row: 3, error: '\'age\' accepts a number, not "x"', field: 'age' },
				{ count: 1, row: 4, error: "the import key 'name' has no value", field: 'name' },
				{ count: 1, row: 6, error: 'too long' },
			],
			columns: { name: 'name', age: 'age', 'The Sum': 'sum' },
			ignoredColumns: [],
			...{ requests: expect.any(Number), retries: 0, waitedMs: expect.any(Number) },
		});
		expect(records).toEqual([
			{ name: 'Ada', age: 2 },
			{ name: 'C, D', age: 5 },
		]);
		expect(stored).toEqual([
			{
				name: 'people-rejected.csv',
				mimetype: 'text/csv',
				text: [
					'\ufeffname,age,The Sum,error,field,row',
					`Bob,x,0,"'age' accepts a number, not ""x""",age,3`,
					",4,0,the import key 'name' has no value,name,4",
					`${'e'.repeat(41)},6,0,too long,,6`,
					'',
				].join('\r\n'),
			},
		]);
		expect(output[0]!.binary).toEqual({ rejected: expect.objectContaining({ fileName: 'people-rejected.csv' }) });
		expect(hints).toEqual([
			expect.objectContaining({
				message:
					"Not written, because these fields are read-only, have an unknown type, or hold files or links as they were read: 'The Sum'.",
			}),
			expect.objectContaining({
				message: expect.stringMatching(
					/^'people.csv', 5 rows: 1 inserted, 1 updated, 3 failed \(2 requests\). Problems: row 3: 'age' accepts a number, not "x"; row 4: the import key 'name' has no value; row 6: too long. The rejected rows are in 'rejected'.$/,
				),
				type: 'warning',
			}),
		]);
		expect(openStreams).toBe(0);
	});

	test('that are all written make no file of rejected rows', async () => {
		const { output, stored, hints } = await importFile('name,age\nBob,2\n');
		expect(output[0]!.binary).toBeUndefined();
		expect(stored).toEqual([]);
		expect(hints.at(-1)).toMatchObject({ type: 'info' });
	});

	test.each<[what: string, text: string, options: INodeParameters]>([
		['as a spreadsheet writes it', 'name,age\nBob,2\n,\n , \u00a0\n"",""\nCy,3\n', {}],
		['shorter than the header', 'name,age\nBob,2\n""\n,,\n,\nCy,3\n', {}],
		['in NDJSON', '{"name":"Bob","age":2}\n{}\n{"name":""}\n{"age":null}\n{"name":"Cy","age":3}\n', {}],
	])('without any value are skipped and counted: %s', async (_, text, options) => {
		for (const importMode of ['create', 'upsert']) {
			const { result, records, hints } = await importFile(text, { parameters: { importMode }, options });
			expect(result).toMatchObject({ inserted: 2, skipped: 3, rejected: 0, rows: 5 });
			expect(records.slice(1)).toEqual([
				{ name: 'Bob', age: 2 },
				{ name: 'Cy', age: 3 },
			]);
			expect(hints.at(-1)!.message).toContain('2 inserted, 3 skipped');
		}
	});

	test('are read although only the header ends with a delimiter, titles come first, or the header comes again', async () => {
		const rows = 'name;age;\nBob;2\nname;age;\nCy;3;\n';
		for (const [text, options] of [
			[rows, {}],
			[`My people;;\n\n${rows}`, { file: { settings: { headerRow: 3 } } }],
		] as const) {
			const { result, records, error } = await importFile(text, { options });
			expect(error).toBeUndefined();
			expect(result).toMatchObject({ inserted: 2, skipped: 1, rejected: 0 });
			expect(records.slice(1)).toEqual([
				{ name: 'Bob', age: 2 },
				{ name: 'Cy', age: 3 },
			]);
		}
	});

	test('with values in ignored columns only are rejected, not lost', async () => {
		const { result } = await importFile('name,other\n,x\nBob,x\n', {
			parameters: { importMode: 'create' },
			options: { unknownFields: 'ignore' },
		});
		expect(result).toMatchObject({ rejected: 1, errors: [{ error: 'no field has a value, so the record would be empty' }] });
	});

	test('that are merged are counted in the output', async () => {
		const { result } = await importFile('name,age\nNULL,1\nBob,2\nNULL,3\n', {});
		expect(result).toMatchObject({ inserted: 3, merged: 1, rows: 3 });
	});

	test('and rejected are reported by cause, with the first reason and row', async () => {
		const rows = Array.from({ length: 12 }, (_, at) => `${at},x`).join('\n');
		const { result, stored, hints } = await importFile(`name,age\n${rows}\nBob,1`);
		expect(result.errors).toEqual([{ count: 12, row: 2, error: '\'age\' accepts a number, not "x"', field: 'age' }]);
		expect(hints.at(-1)!.message).toContain(' Problems: 12 × \'age\' accepts a number, not "x" (rows 2, 3, 4, …).');
		expect(stored[0]!.text.split('\r\n')).toHaveLength(14);
		expect(stored[0]!.text.match(/error,field,row/g)).toHaveLength(1);
	});

	test('of NDJSON are rejected as they came', async () => {
		const { result, stored } = await importFile('{"name":"Bob","age":"x"}\n{"name":"Cy","age":3}\nno\n', {
			parameters: { format: 'ndjson' },
		});
		expect(result).toMatchObject({ inserted: 1, rejected: 2, confirmedThroughRow: 3 });
		// Its rows name their own fields: it has no columns to report.
		expect(Object.keys(result).filter((name) => /columns/i.test(name))).toEqual([]);
		expect(stored).toMatchObject([{ name: 'people-rejected.ndjson', mimetype: 'application/x-ndjson' }]);
		expect(stored[0]!.text).toMatch(/^\{"name":"Bob","age":"x","error":"'age' accepts a number, not \\"x\\"","field":"age","row":1\}\n/);
		expect(stored[0]!.text).toContain('"row":3');
	});

	test('are CSV if the format says so, although they begin like JSON', async () => {
		const { records } = await importFile('{x},name\n1,Bob\n', { parameters: { format: 'csv' }, options: { unknownFields: 'ignore' } });
		expect(records[1]).toEqual({ name: 'Bob' });
	});

	test('may be a single one', async () => {
		const { result } = await importFile('name\nA\nB\nC\n', { options: { startAtRow: 3, endAtRow: 3 } });
		expect(result).toMatchObject({ rows: 1, confirmedThroughRow: 3 });
	});

	test('that are created match none, whatever is left of matching', async () => {
		const { records, result } = await importFile('age\n5\n', { parameters: { importMode: 'create' } });
		expect(result.errors).toEqual([]);
		expect(records[1]).toEqual({ age: 5 });
	});

	test('whose keys look the same are pointed out', async () => {
		const { hints } = await importFile('name,age\nBob,1\nBOB,2\n');
		expect(hints[0]!.message).toContain("'Bob', 'BOB' (rows 2 and 3)");
	});

	test('that only update create none, whatever is left of creating', async () => {
		const { records, result } = await importFile('name,age\nNew,5\nAda,6\n', {
			parameters: { importMode: 'update', matchOn: 'importKey' },
			options: { ifMissing: 'create' },
		});
		expect(records).toEqual([{ name: 'Ada', age: 6 }]);
		expect(result).toMatchObject({ notFound: 1, updated: 1, rejected: 1 });
	});

	test('are written from a row to a row', async () => {
		const { result, records } = await importFile('name\nA\nB\nC\nD\n', { options: { startAtRow: 3, endAtRow: 4 } });
		expect(records.map(({ name }) => name)).toEqual(['Ada', 'B', 'C']);
		expect(result).toMatchObject({ rows: 2, confirmedThroughRow: 4 });
	});

	test('are none after the end of the file: that is an error', async () => {
		const { error } = await importFile('name\nA\n', { options: { startAtRow: 7 } });
		expect(error?.message).toContain('has no row 7');
		expect(error?.description).toContain("set 'File → Start at Row' to 1");
	});

	test('a dry run writes nothing', async () => {
		const { result, records } = await importFile('name,age\nBob,2\nAda,1\n', { options: { dryRun: true } });
		expect(result).toMatchObject({ inserted: 1, dryRun: true });
		expect(records).toHaveLength(1);
	});

	test('a dry run shows the first rows as they would be written, and what is wrong with them', async () => {
		const { result } = await importFile('name,age\nBob,2\nCy,x\nD,4\nE,5\nF,6\nG,7\n', { options: { dryRun: true } });
		expect(result.preview).toEqual([
			{ row: 2, outcome: 'inserted', name: 'Bob', age: 2 },
			{ row: 3, outcome: 'failed', error: `'age' accepts a number, not "x"` },
			{ row: 4, outcome: 'inserted', name: 'D', age: 4 },
			{ row: 5, outcome: 'inserted', name: 'E', age: 5 },
			{ row: 6, outcome: 'inserted', name: 'F', age: 6 },
		]);
	});

	test('with a mapping by hand', async () => {
		const { result, records } = await importFile('Nom,Ans\nBob,2\n', {
			parameters: { mappingMode: 'defineBelow', columnMapping: { column: [{ column: 'Nom', field: 'name' }] } },
		});
		expect(records[1]).toEqual({ name: 'Bob' });
		expect(result).toMatchObject({ columns: { Nom: 'name' }, ignoredColumns: ['Ans'] });
	});

	test('are called rows in a reason, and its values stay as they are', async () => {
		const { result } = await importFile('name,age\nA,item 5\nitem 5,1\nitem 5,2\n', { options: { duplicates: 'error' } });
		expect(result.errors).toEqual([
			{ count: 1, row: 2, error: '\'age\' accepts a number, not "item 5"', field: 'age' },
			{ count: 1, row: 4, error: "it has the same import key 'item 5' as row 3" },
		]);
	});

	test('of one record that is not written name the row that counts', async () => {
		const { result } = await importFile(`name,age\n${'x'.repeat(41)},1\n${'x'.repeat(41)},2\nBob,1\n`);
		expect(result.errors).toMatchObject([
			{ error: 'Merged into row 3, which has the same key and did not succeed: too long' },
			{ error: 'too long' },
		]);
	});

	test('of NDJSON can be imported again with the encoding of the original', async () => {
		const options = { encoding: 'windows-1252' };
		const text = Buffer.from('{"name":"J\xfcrgen","age":"x"}\n', 'latin1');
		const { stored } = await importFile(text, { options });
		const corrected = stored[0]!.text.replace('"age":"x"', '"age":5');
		const { records } = await importFile(corrected, { options });
		expect(records[1]).toEqual({ name: 'Jürgen', age: 5 });
	});

	test('of one record: the last counts, or the first', async () => {
		const text = 'name,age\nBob,2\nBob,3\n';
		expect((await importFile(text)).records[1]).toEqual({ name: 'Bob', age: 3 });
		const { records, stored } = await importFile(text, { options: { duplicates: 'error' } });
		expect(records[1]).toEqual({ name: 'Bob', age: 2 });
		expect(stored[0]!.text).toContain("Bob,3,it has the same import key 'Bob' as row 2,,3");
	});

	test('by the ID of their records', async () => {
		const { records, stored } = await importFile('id,age\nr1,2\nr1,3\nr9,4\n', {
			parameters: { importMode: 'update', matchOn: 'recordId' },
			options: { duplicates: 'error' },
		});
		expect(records).toEqual([{ name: 'Ada', age: 2 }]);
		expect(stored[0]!.text).toContain("r1,3,it has the same record id 'r1' as row 2,,3");
		expect(stored[0]!.text).toContain('r9,4,');
	});

	test('Rejected Rows Limit', async () => {
		const text = 'name,age\nA,x\nB,2\n';
		const { error, records } = await importFile(text, { options: { stopAfterRejected: 1 } });
		expect(error?.message).toBe(
			"'people.csv' is imported through row 3 only: 1 row rejected, and 'Rejected Rows Limit' allows no more (row 2: 'age' accepts a number, not \"x\")",
		);
		expect(records).toHaveLength(2);
		// There is no row to continue with.
		expect(error?.description ?? '').not.toContain('Start at Row');
		const more = await importFile(`${text}C,y\n`, { options: { stopAfterRejected: 2 } });
		expect(more.error?.message).toContain('2 rows rejected, and');
		expect((await importFile(text, { options: { stopAfterRejected: 2 } })).error).toBeUndefined();
	});
});

describe('what keeps a file from being imported', () => {
	test.each<[string, string | Buffer | Error, Import, string, IDataObject]>([
		['it can’t be read', new Error('gone'), {}, "'people.csv' can't be read from n8n's store: gone", { field: 'Input Data Field Name' }],
		['it is empty', '', {}, 'The file is empty', {}],
		[
			'a column that no field has',
			'name,tag-s\nBob,2\n',
			{},
			"Nothing was sent: table 'People' has no field for the column 'tag-s', did you mean 'tags'?",
			{ field: 'Mapping Column Mode' },
		],
		[
			'an unknown mode',
			'name\nBob\n',
			{ parameters: { importMode: 'merge' } },
			"'Import Mode' must be one of 'create', 'upsert', 'update', not \"merge\"",
			{ field: 'Import Mode' },
		],
		[
			'an unknown format',
			'name\nBob\n',
			{ parameters: { format: 'xml' } },
			"'Format' must be one of 'auto', 'csv', 'ndjson', not \"xml\"",
			{ field: 'Format' },
		],
		...(
			[
				['delimiter', '#', `'Delimiter' must be one of 'auto', ',', '|', ';', '\t', not "#"`],
				['encoding', 'x', /^'Encoding' must be one of 'auto', .*, not "x"$/],
				['numberFormat', 'x', "'Number Format' must be one of 'point', 'comma', 'plain', not \"x\""],
				['listSeparator', 5, "'List Separator' must be text, not a number"],
				['formulaGuard', 'x', `'Formula Guard' must be true or false, not "x"`],
				['formulaGuard', '={{ undefined }}', "'Formula Guard' must be true or false, it is empty"],
				['dateFormat', 'qq', /^'Date Format' /],
				['timeZone', 'Mars/One', /^'Time Zone' /],
				['dateFormat', true, "'Date Format' must be text, not a boolean"],
				['timeZone', true, "'Time Zone' must be text, not a boolean"],
				['startAtRow', 0, "'Start at Row' must be a whole number from 1 to 4294967295, not 0"],
				['startAtRow', '={{ undefined }}', "'Start at Row' must be a whole number from 1 to 4294967295, it is empty"],
				['startAtRow', 1.5, "'Start at Row' must be a whole number from 1 to 4294967295, not 1.5"],
				['endAtRow', -1, "'End at Row' must be a whole number from 0 to 4294967295, not -1"],
				['stopAfterRejected', -1, "'Rejected Rows Limit' must be a whole number from 0 to 4294967295, not -1"],
			] as Array<[string, string | number | boolean, string | RegExp]>
		).map(([option, value, message]): [string, string, Import, string, IDataObject] => [
			`${option} ${value}`,
			'name\nBob\n',
			{ options: { [option]: value } },
			message as string,
			{ field: /^'([^']*)'/.exec(typeof message === 'string' ? message : message.source.slice(1))?.[1] },
		]),
		[
			'an end before the start',
			'name\nBob\n',
			{ options: { startAtRow: 3, endAtRow: 2 } },
			"'End at Row' (2) is before 'Start at Row' (3)",
			{ field: 'End at Row' },
		],
	])('%s', async (_, text, given, message, expected) => {
		const { error, records, openStreams } = await importFile(text, given);
		if ((message as unknown) instanceof RegExp) expect(error?.message).toMatch(message);
		else expect(error?.message).toBe(message);
		expect(details(error)).toMatchObject({ item: 0, outcome: 'failed', ...expected });
		expect(records).toHaveLength(1);
		expect(openStreams).toBe(0);
	});

	test('an end before the start says what to do', async () => {
		const { error } = await importFile('name\n', { options: { startAtRow: 3, endAtRow: 2 } });
		expect(error?.description).toBe("Correct one of the two, or set 'File → End at Row' to 0 for the end of the file.");
	});

	test('a list separator that is no text says what to do', async () => {
		const { error } = await importFile('name\n', { options: { listSeparator: 5 } });
		expect(error?.description).toBe('Correct the expression in it.');
	});
});

test.each<[string, string | Buffer, INodeParameters, IDataObject]>([
	['by its first row', 'name;age\nBob;2\n', {}, { name: 'Bob', age: 2 }],
	['as it is said', 'name,x;y;z;w\nBob,2\n', { delimiter: ',', unknownFields: 'ignore' }, { name: 'Bob' }],
	['in an encoding', Buffer.from('name\nJos\xe9\n', 'latin1'), { encoding: 'windows-1252' }, { name: 'José' }],
	['numbers with a comma', 'name;age\nBob;1.234,0\n', { numberFormat: 'comma' }, { age: 1234 }],
	['numbers with a point', 'name;age\nBob;1,234.0\n', { numberFormat: 'point' }, { age: 1234 }],
	['dates', 'name,born\nBob,1.2.2026\n', { dateFormat: 'd.M.yyyy' }, { born: '2026-02-01T00:00:00Z' }],
	['times of a zone', 'name,at\nBob,2026-02-01T12:00\n', { timeZone: 'Asia/Tokyo' }, { at: '2026-02-01T03:00:00Z' }],
	['lists', 'name,tags\nBob,a|b\n', { listSeparator: '|', delimiter: ',' }, { tags: ['a', 'b'] }],
	['without the guard of formulas', "name\n'=Bob\n", {}, { name: '=Bob' }],
	['with what looks like the guard', "name\n'=Bob\n", { formulaGuard: false }, { name: "'=Bob" }],
	['what is empty is left', 'name,age\nAda,\n', {}, { name: 'Ada', age: 1 }],
	['what is empty is cleared', 'name,age\nAda,\n', { emptyValues: 'clear' }, { age: null }],
])('a file is read as the options say: %s', async (_, text, options, fields) => {
	const { records, error, result } = await importFile(text, {
		options,
		parameters: options.delimiter === ',' && options.unknownFields ? { importMode: 'create' } : {},
	});
	expect(error).toBeUndefined();
	expect(result.errors).toEqual([]);
	expect(records.at(-1)).toMatchObject(fields);
});

describe('an import that stops early', () => {
	const lost = (at: number) => {
		let count = 0;
		return (request: string) => {
			if (!request.includes('bulk')) return undefined;
			count += 1;
			return count >= at ? httpResponse(401, { errors: [{ message: 'no' }] }) : undefined;
		};
	};

	test('before the first row says so', async () => {
		const { error, records, log } = await importFile('name\nBob\n', { respond: lost(1) });
		expect(error?.message).toMatch(/^No row of 'people.csv' was imported: /);
		expect(details(error)).toMatchObject({ ...{ outcome: 'failed', rows: 0, rejected: 0, startAtRow: 2, confirmedThroughRow: 1 } });
		expect(records).toHaveLength(1);
		expect(log.at(-1)).toMatch(/^warn: Import From File: No row of 'people.csv'/);
	});

	test('in its middle says how to go on', async () => {
		const { error, result, output } = await importFile('name\nA\nB\nC\n', {
			options: { batchSize: 1, parallelRequests: 1 },
			respond: lost(3),
			node: { onError: 'continueRegularOutput' },
		});
		expect(error).toBeUndefined();
		expect(output).toHaveLength(1);
		expect(result.error).toMatch(/^'people.csv' is imported through row 3 only: /);
		expect(result.message).toContain("To continue, set 'File → Start at Row' in the options to 4.");
		expect(result.details).toMatchObject({ rows: 2, inserted: 2, startAtRow: 4 });
	});

	test('because the rejected rows can’t be stored says why, and where they are', async () => {
		const { error, records } = await importFile('name,age\nA,x\nB,2\n', { receive: fullDisk });
		expect(records).toHaveLength(2);
		expect(details(error)).toMatchObject({ inserted: 1, rejected: 1, confirmedThroughRow: 3 });
		expect(error?.message).toContain("'people-rejected.csv' can't be written to n8n's store: disk full");
		expect(error?.description).toContain('Make room on the disk, or raise the size limit of the store, and run it again.');
	});
});

describe('a file that is damaged', () => {
	const rows = Array.from({ length: 9000 }, (_, at) => `n${at},${at}\n`).join('');
	const packed = gzipSync(`name,age\n${rows}`);

	test('at the end of a gzip file: nothing is written', async () => {
		packed[packed.length - 8]! ^= 1;
		const { error, records, requests, openStreams } = await importFile(packed);
		expect(error?.message).toBe('The gzip file is damaged, cut off, or several joined files: incorrect data check');
		expect(error?.description).toBe('Get the file again, or unpack it.');
		expect(records).toHaveLength(1);
		expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
		expect(openStreams).toBe(0);
	});

	test.each<[string, Buffer, string, string]>([
		[
			'another encoding',
			Buffer.from('name,age\nA,1\nC\xe4,3\nD,4\n', 'latin1'),
			'The file is not UTF-8',
			'Only if all of it is in another encoding',
		],
		[
			'a quote that is never closed',
			Buffer.from('name,age\nA,1\nB,2\n"C,3\nD,4\n'),
			"No row of 'people.csv' was imported: The quote that opens in row 4 is never closed",
			'a quote in a text is not doubled',
		],
	])('by %s: no row of its portion is written', async (_, bytes, message, hint) => {
		const { error, records } = await importFile(bytes);
		expect(error?.message).toBe(message);
		expect(error?.description).toContain(hint);
		expect(records).toHaveLength(1);
		const dry = await importFile(bytes, { options: { dryRun: true } });
		expect(dry.error?.message).toBe(message.replace('imported', 'checked'));
	});

	test('by a line that is no JSON: only that line is rejected', async () => {
		const { result, records } = await importFile('{"name":"A"}\n{"name":"B\n{"name":"C"}\n');
		expect(result).toMatchObject({ inserted: 2, rejected: 1, confirmedThroughRow: 3 });
		expect(records.map(({ name }) => name)).toEqual(['Ada', 'A', 'C']);
	});
});

describe('the files of items', () => {
	const file = (id: string) => ({ id, fileName: `${id}.csv`, mimeType: 'text/csv', data: '' });
	const FILES = {
		a: 'name,age\nA,1\nX,x\n',
		b: 'name,age\nB,2\n',
		bad: `name,age\nC,3\nY,y\n${',\n'.repeat(4000)}"D,4\n`,
		z: 'name,age\nZ,9\n',
	};
	type Name = keyof typeof FILES;

	/** @param names the files of each item */
	const importFiles = async (names: Name[][], given: Import = {}) => {
		const items = names.map((of) => ({ json: {}, binary: Object.fromEntries(of.map((name) => [name, file(name)])) }));
		return await importFile('', { items, files: FILES, parameters: { inputDataFieldName: '' }, ...given });
	};
	const continued = { node: { onError: 'continueRegularOutput' } } as const;

	test('of which one breaks off: its rejected rows, and where to continue; the others are imported', async () => {
		const { output, json, stored, records, log } = await importFiles([['a'], ['bad'], ['z']], continued);
		expect(json.map(({ file: name }) => name)).toEqual(['a.csv', undefined, 'z.csv']);
		const { error, message, details: facts } = json[1]!;
		expect(error).toMatch(/^'bad.csv' is imported through row 4001 only: The quote/);
		expect(message).toContain("set 'File → Start at Row' in the options to 4002, for this file only.");
		expect(message).not.toContain('On Error');
		expect(facts).toMatchObject({ file: 'bad.csv', rejected: 1 });
		expect(stored.map(({ text }) => text.includes('\nY,y,'))).toEqual([false, true]);
		expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['rejected'], ['rejected'], []]);
		expect(records.map(({ name }) => name)).toEqual(['Ada', 'A', 'C', 'Z']);
		expect(log.at(-1)).toContain("'bad.csv' is imported through row 4001 only");
	});

	test.each<[Name, boolean]>([
		['bad', true],
		['b', false],
	])('%s, if an error stops the node: rejected rows are lost, %s', async (name, isSaid) => {
		const { error } = await importFiles([[name], []]);
		const sentence = "The rejected rows are in the output only if 'On Error' is set to continue.";
		expect(error?.description).toEqual(expect.any(String));
		expect(error?.description?.includes(sentence)).toBe(isSaid);
	});

	test('are one for each item', async () => {
		const { error, requests } = await importFiles([['b', 'z']]);
		expect(error?.message).toBe("The item has several files, in 'b', 'z'");
		expect(error?.description).toContain("leave it empty and put a 'Split Out' node with the field $binary before this one");
		expect(requests).toEqual([]);
		const { json } = await importFiles([['b', 'z']], { parameters: { inputDataFieldName: 'z' } });
		expect(json).toMatchObject([{ file: 'z.csv' }]);
	});

	test('of which one item has none: the others are imported', async () => {
		const { json, records } = await importFiles([[], ['b'], ['z']], continued);
		expect(json[0]!.error).toBe('The item has no file');
		expect(json.slice(1).map(({ file: name }) => name)).toEqual(['b.csv', 'z.csv']);
		expect(records.map(({ name }) => name)).toEqual(['Ada', 'B', 'Z']);
	});
});

/** Rows with these outcomes. */
const stubPipeline = (outcomes: Record<number, ItemOutcome>, stopped?: ServiceError, addsTwice: number[] = []) =>
	({
		plan: async (inputs: PlanInput[]) => ({
			records: inputs.map(({ index }) => ({ index, fields: {} })),
			...{ problems: [], merged: new Map(), ignored: new Set(), notices: [] },
		}),
		write: async ({ records }: Plan, onRow: OnRow) => {
			for (const record of records) if (outcomes[record.index]) onRow(record.index, outcomes[record.index]!, record);
			return stopped;
		},
		addsTwice: (records: Plan['records']) => records.some(({ index }) => addsTwice.includes(index)),
	}) as unknown as WritePipeline;

/** The portions that an import gets, and its result. */
async function importPortions(
	portions: Array<FileRow[] | Error>,
	{
		respond,
		rejectsDuplicates = false,
		stopAfterRejected = 0,
		receive,
		cancellation = () => undefined,
		batchSize = 0,
		parallelRequests = 1,
		isById = false,
		previewRows = 0,
		outcomes,
		stopped,
		addsTwice,
	}: {
		respond?: Parameters<StubTables['client']>[0];
		rejectsDuplicates?: boolean;
		stopAfterRejected?: number;
		receive?: Given['receive'];
		cancellation?: () => ServiceError | undefined;
		batchSize?: number;
		parallelRequests?: number;
		isById?: boolean;
		/** The outcomes of the rows, instead of those from the platform. */
		outcomes?: Record<number, ItemOutcome>;
		/** Why nothing more was sent after those. */
		stopped?: ServiceError;
		/** The rows that may add something twice. */
		addsTwice?: number[];
		previewRows?: number;
	} = {},
) {
	const tables = new StubTables({ people: isById ? { r1: {}, r2: {} } : {} }, { people });
	const { run, context, seen } = await fakeRun({}, { receive });
	const client = tables.client(respond);
	const header = [isById ? 'id' : 'name', 'age'];
	const mode = isById ? ('update' as const) : ('upsert' as const);
	const planning = {
		...{ mode, empty: 'leave' as const, unknownFields: 'error' as const },
		...{ duplicates: rejectsDuplicates ? ('keepFirst' as const) : ('merge' as const) },
		isFromInput: true,
		unit: 'row' as const,
	};
	const form = { numbers: 'plain' as const, listSeparator: '' };
	const reader = new RowReader({ table: people, planning, hasId: isById, form, formulaGuard: true }, header);
	const links = new LinkResolver(async () => {
		throw new Error('No link');
	});
	const options = {
		...{ mode, batchSize, parallelRequests },
		...{ skipUnchanged: false, dryRun: false, stopAtFailure: false },
		...{ planning, linkRules: new Map() },
	};
	const target = { client, at: { table: 'people' }, table: people };
	const pipeline = new WritePipeline(target, links, options);
	let isReturned = false;
	async function* all() {
		try {
			for (const portion of portions) {
				if (portion instanceof Error) throw portion;
				yield portion;
			}
		} finally {
			isReturned = true;
		}
	}
	const result = await new RowImport({
		name: 'people.csv',
		portions: all(),
		reader,
		pipeline: outcomes ? stubPipeline(outcomes, stopped, addsTwice) : pipeline,
		lines: new RejectedLines(header, ',', { encoding: 'auto', formulaGuard: true }, (name) => reader.isField(name)),
		rejected: new GrowingFile(run, 'rejected.csv', 'text/csv'),
		progress: new ProgressLog(context),
		identityOf: rejectsDuplicates ? ({ id, key }) => (isById ? id : key) : undefined,
		previewRows,
		stopAfterRejected,
		before: 1,
		cancellation,
	}).run();
	return { result, names: tables.tables.people!.map(({ fields }) => fields.name), seen, isReturned };
}

const row = (at: number, ...cells: string[]): FileRow => ({ row: at, cells });

describe('portions of rows', () => {
	test('are written one after the other', async () => {
		const { result, names, isReturned } = await importPortions([[row(2, 'A', '1'), row(3, 'B', '2')], [row(4, 'C', '3')]]);
		expect(names).toEqual(['A', 'B', 'C']);
		expect(result).toMatchObject({ counts: { rows: 3, inserted: 3 }, ...{ confirmedThroughRow: 4, writtenAfter: 0 } });
		expect(result.interruption).toBeUndefined();
		expect(Object.keys(result.counts)).not.toContain('deleted');
		expect(isReturned).toBe(true);
	});

	test('know which records earlier ones wrote', async () => {
		const given: FileRow[][] = [[row(2, 'A', '1'), row(3, 'B', '2')], [row(4, 'B', '3')]];
		const { result } = await importPortions(given, { rejectsDuplicates: true });
		expect(result).toMatchObject({ counts: { inserted: 2, failed: 1, rejected: 1 } });
		expect(result.kinds.text()).toBe("row 4: it identifies the same record as row 3, by 'B'");
		expect((await importPortions(given)).result).toMatchObject({ counts: { inserted: 2, updated: 1, rejected: 0 } });
	});

	test('by ID know which records earlier ones wrote, in capitals too', async () => {
		const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
		const { result } = await importPortions(
			[
				[row(2, id, '1'), row(3, 'r2', '2')],
				[row(4, 'r2', '3'), row(5, id.toUpperCase(), '4')],
			],
			{ rejectsDuplicates: true, isById: true },
		);
		expect(result).toMatchObject({ counts: { updated: 1, notFound: 1, failed: 2 } });
		expect(result.kinds.text()).toMatch(/^2 × such as it identifies the same record as row 3, by 'r2' \(rows 4, 5\);/);
	});

	test('what is written after a row that was not sent is counted', async () => {
		const slowly = async () => {
			await new Promise((resolve) => setTimeout(resolve, 30));
			return httpResponse(401, { errors: [{ message: 'no' }] });
		};
		const { result } = await importPortions([[row(2, 'A', '1'), row(3, 'B', '2'), row(4, 'C', 'x'), row(5, 'D', '1')]], {
			...{ batchSize: 1, parallelRequests: 2 },
			respond: (request, { body }) => (request.includes('bulk') && String(body).includes('"A"') ? slowly() : undefined),
		});
		expect(result).toMatchObject({ confirmedThroughRow: 1, writtenAfter: 2 });
	});

	test('short rows of a wide file are rejected without all of them in memory', async () => {
		const sizes: number[] = [];
		const wide = Array.from({ length: 1000 }, (_, at) => `c${at}`).join(',');
		const { result, stored } = await importFile(`name,age,${wide}\n${'x\n'.repeat(3000)}Bob,1${','.repeat(1000)}\n`, {
			options: { unknownFields: 'ignore' },
			receive: (piece) => void sizes.push(piece.length),
		});
		expect(result.rejected).toBe(3000);
		expect(sizes.length).toBeGreaterThan(2);
		expect(Math.max(...sizes)).toBeLessThan(1.1 * 1024 * 1024);
		expect(
			stored[0]!.text
				.split('\r\n')
				.slice(1, -1)
				.filter((line) => !line.startsWith('x,')),
		).toEqual([]);
	});

	test.each<[string, INodeParameters, string | undefined]>([
		['name,age\nA,x\nB,y\n,\n', {}, '2 rows rejected: 2 × such as \'age\' accepts a number, not "x" (rows 2, 3)'],
		[`name,age\n${'x'.repeat(41)},1\n`, {}, '1 row rejected: row 2: too long'],
		['name,age\nA,x\n,\n', { dryRun: true }, undefined],
		['name,age\nA,x\nAda,1\n', {}, undefined],
		['name,age\n,\n', {}, undefined],
	])('%j: an import that writes no row is an error', async (text, options, reason) => {
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const { error, result, output } = await importFile(text, { options, node: { onError } });
			const message = reason && `No row of 'people.csv' was imported, ${reason}`;
			const isContinued = onError !== 'stopWorkflow';
			expect(isContinued ? result.error : error?.message).toBe(message);
			if (!message) continue;
			if (isContinued) expect(output[0]!.binary).toHaveProperty('rejected');
			expect(isContinued ? result.details : details(error)).toMatchObject({ outcome: 'failed', inserted: 0, retryable: false });
			const next = "Correct them, then import them again. The rejected rows are in the output only if 'On Error' is set to continue.";
			if (!isContinued) expect(error!.description).toBe(next);
		}
	});

	test('rows of a Create whose response was lost: their records are to be looked for before they are imported again', async () => {
		const respond = (request: string) => (request.includes('bulk') ? httpResponse(500, {}) : undefined);
		const { error } = await importFile('name,age\nA,1\nB,2\n', { respond, parameters: { importMode: 'create' } });
		expect(error?.message).toContain('was imported for certain, 2 rows rejected');
		expect(error?.description).toContain(
			'2 rows may or may not have been written: look for their records before you import the rejected rows again.',
		);
		expect(error?.description).not.toContain('Correct them');
	});

	test('no option says how NDJSON writes numbers: none is advised', async () => {
		const { error } = await importFile('{"name":"A","age":"1,5"}\n', { parameters: { format: 'ndjson' } });
		expect(error?.message).toContain("'age' accepts");
		expect(error?.message).not.toContain('Number Format');
		const csv = await importFile('name;age\nA;1,5\n');
		expect(csv.error?.message).toContain('Number Format');
	});

	test('a file of rejected rows has one header', async () => {
		const { seen } = await importPortions([[row(2, 'A', 'x')], [row(3, 'B', 'y')]]);
		expect(seen.stored[0]!.text.split('\r\n').map((line) => line.slice(0, 8))).toEqual([
			'\ufeffname,ag',
			...['A,x,"\'ag', 'B,y,"\'ag'],
			'',
		]);
	});

	test('one that can’t be read ends the import behind those before it', async () => {
		const failure = new InputError('line 5 is torn', { hint: 'Mend it.' });
		const { result, names } = await importPortions([[row(2, 'A', '1')], failure]);
		expect(names).toEqual(['A']);
		expect(result).toMatchObject({ confirmedThroughRow: 2, interruption: { error: failure } });
	});

	test('nothing is written once the execution is canceled', async () => {
		const canceled = new ServiceError('The execution was canceled', { delivery: 'notApplied' });
		const { result, names, isReturned } = await importPortions([[row(2, 'A', '1')]], { cancellation: () => canceled });
		expect(names).toEqual([]);
		expect(result).toMatchObject({ confirmedThroughRow: 1, interruption: { error: canceled } });
		expect(isReturned).toBe(true);
	});

	test('too many rejected rows end the import', async () => {
		const { result, names } = await importPortions([[row(2, 'A', 'x')], [row(3, 'B', 'x')], [row(4, 'C', '1')]], { stopAfterRejected: 2 });
		expect(names).toEqual([]);
		expect(result.interruption?.error).toMatchObject({
			message: "2 rows rejected, and 'Rejected Rows Limit' allows no more (2 × 'age' accepts a number, not \"x\" (rows 2, 3))",
			hint: '',
		});
		expect(result.confirmedThroughRow).toBe(3);
		expect(result.rejectedFile).toBeDefined();
	});

	test('a failure of the file of rejected rows does not hide an earlier one', async () => {
		const { result } = await importPortions([[row(2, 'A', 'x')], new InputError('torn', { hint: 'Mend it.' })], { receive: fullDisk });
		expect((result.interruption?.error as Error).message).toMatch(/^torn$|disk full/);
		expect(result.rejectedFile).toBeUndefined();
	});

	test('a row of unknown outcome is rejected, and nothing after it is certain', async () => {
		const { result } = await importPortions([[row(2, 'A', '1'), row(3, 'B', '2'), row(4, 'C', '3')]], {
			batchSize: 1,
			respond: (request, { body }) => (request.includes('bulk') && String(body).includes('"B"') ? new Error('socket hang up') : undefined),
		});
		expect(result).toMatchObject({ confirmedThroughRow: 4, firstUnknownRow: 3, counts: { unknown: 1, rejected: 1, inserted: 2 } });
		expect(certainThrough(result)).toBe(2);
	});

	const stop = new ServiceError('the token expired', { delivery: 'rejected', status: 401 });
	const ROWS = [row(2, 'A', '1'), row(3, 'B', '1'), row(4, 'C', '1')];
	const written: ItemOutcome = { outcome: 'inserted' };

	test('what stops the import is why it was interrupted', async () => {
		const { result, isReturned } = await importPortions([ROWS], { outcomes: {}, stopped: stop });
		expect(result.interruption).toEqual({ error: stop });
		expect(result).toMatchObject({ confirmedThroughRow: 1, counts: { rows: 0, rejected: 0 } });
		expect(isReturned).toBe(true);
	});

	type Counts = [rows: number, rejected: number, unknown: number, confirmed: number];
	test.each<[string, ItemOutcome, boolean, Counts]>([
		['written', { outcome: 'inserted' }, true, [3, 0, 0, 4]],
		['of unknown outcome', { outcome: 'unknown', message: 'lost' }, true, [3, 0, 1, 2]],
		['of unknown outcome, if nothing stopped', { outcome: 'unknown' }, false, [3, 1, 1, 4]],
		['not sent because of others', { outcome: 'failed', notAttempted: true, stopsRun: true }, true, [2, 0, 0, 2]],
		['part of one that failed', { outcome: 'failed', notAttempted: true, mergedInto: 4 }, true, [3, 1, 0, 4]],
		['not sent because of others, if nothing stopped', { outcome: 'failed', notAttempted: true }, false, [3, 1, 0, 4]],
		['rejected by what stopped it', { outcome: 'failed', stopsRun: true }, true, [2, 0, 0, 2]],
		['rejected', { outcome: 'failed', message: 'too long' }, true, [3, 1, 0, 4]],
		['rejected without a reason', { outcome: 'failed' }, true, [3, 1, 0, 4]],
		['of no record', { outcome: 'notFound', notAttempted: true }, true, [3, 1, 0, 4]],
	])('a row that is %s', async (_, outcome, isStopped, counts) => {
		const { result } = await importPortions([ROWS], {
			outcomes: { 2: written, 3: outcome, 4: written },
			stopped: isStopped ? stop : undefined,
		});
		const { rows, rejected, unknown } = result.counts;
		expect([rows, rejected, unknown, result.confirmedThroughRow]).toEqual(counts);
		const hasGap = result.confirmedThroughRow === 2;
		expect(result.writtenAfter).toBe(hasGap ? 1 : 0);
		expect(result.unknownAfter).toBe(hasGap ? unknown : 0);
		expect(result.firstUnknownRow).toBe(outcome.outcome === 'unknown' ? 3 : undefined);
		// Nothing is left to do if all rows of the last portion have an outcome.
		expect(result.interruption).toEqual(isStopped && (hasGap || unknown > 0) ? { error: stop } : undefined);
	});

	const LIMIT: ItemOutcome = { outcome: 'failed', message: 'full', hint: NAMES_NO_FIELD, code: 'limit', status: 400 };
	const lostRow = (at: number): ItemOutcome => ({ outcome: 'unknown', message: `lost ${at}`, hint: 'look', status: 500 });
	const all = (outcome: ItemOutcome) => () => outcome;
	type Expected = [through: number, rejected: number, unknownAfter: number, message: string] | undefined;
	test.each<[what: string, outcomeOf: (at: number) => ItemOutcome, expected: Expected]>([
		['a reason that names no field', all(LIMIT), [3, 0, 0, 'full; the last 10 rows got the same']],
		['a reason that names a field', all({ ...LIMIT, hint: 'Correct it.' }), undefined],
		['reasons of their own', (at) => ({ ...LIMIT, message: `full ${at}` }), undefined],
		['no response', lostRow, [3, 0, 10, 'lost 13; the last 10 rows got the same']],
		['another outcome in between', (at) => (at === 5 ? { outcome: 'updated' } : LIMIT), undefined],
		['no record', all({ outcome: 'notFound', message: 'none' }), undefined],
	])('ten rows at the end with %s', async (_, outcomeOf, expected) => {
		const portion = Array.from({ length: 12 }, (_, at) => row(at + 2, `n${at}`, '1'));
		const entries = portion.map(({ row: at }) => [at, at < 4 ? written : outcomeOf(at)] as const);
		// Neither a row that is empty nor one with a problem was sent.
		const last = [row(14, '', ''), row(15, 'x', 'y', 'z')];
		const run = async (previewRows: number) =>
			(await importPortions([[...portion, ...last]], { outcomes: Object.fromEntries(entries), previewRows })).result;
		const result = await run(0);
		expect((result.interruption?.error as Error | undefined)?.message).toBe(expected?.[3]);
		if (!expected) return;
		expect([result.confirmedThroughRow, result.counts.failed, result.unknownAfter]).toEqual([expected[0], 1, expected[2]]);
		expect((await run(2)).interruption).toBeUndefined();
	});

	test('rows that were rejected by what stopped the import later are imported again', async () => {
		const stopped = new ServiceError('full; 10 items, each sent by itself, were rejected with these words', { delivery: 'rejected' });
		const { result } = await importPortions([ROWS], { outcomes: { 2: LIMIT, 3: written, 4: { ...LIMIT, message: 'ful' } }, stopped });
		expect(result).toMatchObject({ confirmedThroughRow: 1, writtenAfter: 1, counts: { rejected: 1 } });
	});

	test('a row that was merged into another counts as merged', async () => {
		const merged: ItemOutcome = { outcome: 'updated', mergedInto: 4 };
		const { result } = await importPortions([ROWS], { outcomes: { 2: merged, 3: merged, 4: { outcome: 'updated' } } });
		expect(result).toMatchObject({ merged: { updated: 2 } });
	});

	test('the preview shows the first rows of all portions', async () => {
		const { result } = await importPortions([[ROWS[0]!], [ROWS[1]!], [ROWS[2]!]], { previewRows: 2 });
		expect(result.preview.map((each) => each.row)).toEqual([2, 3]);
	});

	test('an import that may add something twice says so, whichever portion does', async () => {
		const addsTwice = async (rows: number[]) =>
			(await importPortions([[ROWS[0]!], [ROWS[1]!]], { outcomes: {}, addsTwice: rows })).result.addsTwice;
		expect([await addsTwice([]), await addsTwice([2]), await addsTwice([3])]).toEqual([false, true, true]);
	});

	test('a rejected row without a reason has one', async () => {
		const { result } = await importPortions([[ROWS[0]!]], { outcomes: { 2: { outcome: 'failed', field: '' } } });
		expect(result.kinds.list()).toEqual([{ count: 1, row: 2, error: 'The record was not written' }]);
	});

	test('a rejected row names no field at full length', async () => {
		const { result } = await importPortions([[ROWS[0]!]], {
			outcomes: { 2: { outcome: 'failed', message: 'no', field: 'x'.repeat(5000) } },
		});
		expect(result.kinds.list()).toEqual([{ count: 1, row: 2, error: 'no', field: `${'x'.repeat(100)}… (cut)` }]);
	});

	test('all rows of a portion count, although the rejected ones can’t be stored', async () => {
		const wide = 'x'.repeat(1024 * 1024);
		const { result, names } = await importPortions([[row(2, wide, 'x'), row(3, wide, 'x'), row(4, 'C', '1')], [row(5, 'D', '1')]], {
			receive: fullDisk,
		});
		expect(names).toEqual(['C', 'D']);
		expect(result).toMatchObject({
			...{ counts: { rows: 4, rejected: 2, inserted: 2 }, confirmedThroughRow: 5 },
			interruption: { error: { message: "'rejected.csv' can't be written to n8n's store: disk full" } },
		});
		expect(result.rejectedFile).toBeUndefined();
	});

	test('the import ends soon after the rejected rows can’t be stored', async () => {
		const later = Array.from({ length: 50 }, (_, at) => [row(at + 3, `n${at}`, '1')]);
		const { names } = await importPortions([[row(2, 'A', 'x')], ...later], { receive: fullDisk });
		expect(names.length).toBeLessThan(50);
	});

	test('a row that can’t be read has failed', async () => {
		const { result } = await importPortions([[row(2, 'A'), row(3, 'B', '1')]]);
		expect(result).toMatchObject({ counts: { rows: 2, failed: 1, inserted: 1, rejected: 1 } });
		expect(result.kinds.text()).toBe('row 2: the row has 1 cell, the header has 2');
	});

	test('a line in n8n’s log says how far a long import is', async () => {
		jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'queueMicrotask'] });
		const { seen } = await importPortions([[row(2, 'A', 'x'), row(3, 'B', '1')], [row(4, 'C', '1')], [row(5, 'D', '1')]], {
			respond: (_, { body }) => {
				if (/"B"|"D"/.test(String(body))) jest.advanceTimersByTime(5000);
				return undefined;
			},
		});
		jest.useRealTimers();
		expect(seen.log.filter((line) => line.startsWith('info'))).toEqual([
			"info: Import From File: 'people.csv' is confirmed through row 3, 1 rejected ('Data Platform' of workflow workflow, execution 17)",
			"info: Import From File: 'people.csv' is confirmed through row 5, 1 rejected ('Data Platform' of workflow workflow, execution 17)",
		]);
	});

	test.each([
		[5, undefined, 5],
		[5, 4, 3],
		[5, 9, 5],
	])('through row %s, unknown from %s: certain through %s', (confirmed, unknown, certain) => {
		expect(certainThrough({ confirmedThroughRow: confirmed, firstUnknownRow: unknown })).toBe(certain);
	});
});

describe('Export to File', () => {
	const exported = async (options: INodeParameters, parameters: INodeParameters = {}) => {
		const tables = new StubTables({ people: { r1: { name: '=Ada', age: 1, born: null, at: null, tags: ['a'], sum: 3 } } }, { people });
		return await runNode('record: exportToFile', {
			serve: (options) => tables.serve(options),
			parameters: { ...TABLE, ...parameters, options },
		});
	};
	const TIMES = '2026-01-01T00:00:00.501Z,2026-01-01T00:00:00.501Z,0';

	test.each<[string, INodeParameters, string, string]>([
		[
			'by field names, guarded',
			{},
			'People.csv',
			`id,name,age,born,at,tags,sum,created,modified,ver\r\nr1,'=Ada,1,,,"[""a""]",3,${TIMES}\r\n`,
		],
		[
			'by headers',
			{ columnNames: 'headers', fieldsToLoad: ['name', 'sum'] },
			'People.csv',
			`id,name,The Sum,created,modified,ver\r\nr1,'=Ada,3,${TIMES}\r\n`,
		],
		[
			'with another delimiter, a mark and no guard',
			{ delimiter: ';', byteOrderMark: true, formulaGuard: false, fieldsToLoad: ['name'] },
			'People.csv',
			`\ufeffid;name;created;modified;ver\r\nr1;=Ada;${TIMES.replaceAll(',', ';')}\r\n`,
		],
		['under a name', { fileName: ' out ', fieldsToLoad: ['age'] }, 'out.csv', ''],
		['under a name with an ending', { fileName: 'out.TXT', fieldsToLoad: ['age'] }, 'out.TXT', ''],
		['under a name with another dot', { fileName: 'a.csv.b', fieldsToLoad: ['age'] }, 'a.csv.b.csv', ''],
	])('%s', async (_, options, name, text) => {
		const { stored, json, error, output } = await exported(options);
		expect(error).toBeUndefined();
		expect(stored).toMatchObject([{ name, mimetype: 'text/csv' }]);
		if (text) expect(stored[0]!.text).toBe(text);
		expect(json).toEqual([{ records: 1, fileName: name }]);
		expect(Object.keys(output[0]!.binary!)).toEqual(['data']);
	});

	test('as NDJSON', async () => {
		const { stored } = await exported({ fieldsToLoad: ['age'] }, { format: 'ndjson' });
		expect(stored).toMatchObject([{ name: 'People.ndjson', mimetype: 'application/x-ndjson' }]);
		expect(stored[0]!.text).toMatch(/^\{"name":.*"age":1,.*"id":"r1",.*\}\n$/);
	});

	test.each<[INodeParameters, INodeParameters, string]>([
		[{}, { format: 'auto' }, "'Format' must be one of 'csv', 'ndjson', not \"auto\""],
		[{ delimiter: 'auto' }, {}, `'Delimiter' must be one of ',', '|', ';', '\t', not "auto"`],
		[{ columnNames: 'x' }, {}, "'Column Names' must be one of 'names', 'headers', not \"x\""],
		[{ byteOrderMark: 'x' }, {}, `'Byte Order Mark' must be true or false, not "x"`],
		[{ formulaGuard: 'x' }, {}, `'Formula Guard' must be true or false, not "x"`],
		[{ fileName: { a: 1 } }, {}, "'File Name' must be text, not an object"],
	])('%j %j is refused', async (options, parameters, message) => {
		const { error, stored } = await exported(options, parameters);
		expect(error?.message).toBe(message);
		expect(stored).toEqual([]);
	});

	test('what fails while it is read is the error, not the store', async () => {
		const tables = new StubTables({ people: {} }, { people });
		const { error } = await runNode('record: exportToFile', {
			serve: (options) =>
				options.url.includes('/data') ? httpResponse(403, { errors: [{ message: 'not yours' }] }) : tables.serve(options),
			parameters: { ...TABLE, table: locator('people') },
		});
		expect(error?.message).toContain('not yours');
		expect(error?.message).not.toContain('store');
	});
});
