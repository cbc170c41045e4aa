/** What a rejection says to do: it depends on the field that the platform's reason names. */
import { rejectionHint, withNextStep } from '../../../../nodes/DataPlatform/bulk/send/rejectionHint.ts';
import type { FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import type { ItemOutcome } from '../../../../nodes/DataPlatform/bulk/terms.ts';
import { fieldOf } from '../../fixtures.cts';

const fields = new Map(['age', 'name', 'size'].map((name) => [name, { ...fieldOf(name), header: name === 'size' ? 'The Size' : name }]));
const hintOf = (reason: string, values = {}) => rejectionHint(values, reason, { mode: 'create', fields });

const NONE = 'See what the message asks for, then run it again.';
test.each<[reason: string, hint: string]>([
	["'age' is too small", "Correct the value of 'age'."],
	['"age" is too small', "Correct the value of 'age'."],
	['`age` is too small', "Correct the value of 'age'."],
	["the field 'The Size' is too small", "Correct the value of 'size'."],
	['age is too small', NONE],
	["'age is too small", NONE],
	['\'age" is too small', NONE],
	["'ages' and 'name' differ", "Correct the value of 'name'."],
	["'size' and 'age' differ", "Correct the value of 'age'."],
	["'a' and 'b' differ", NONE],
	['', NONE],
])('%s: %s', (reason, hint) => {
	expect(hintOf(reason)).toBe(hint);
});

const TYPES = [
	fieldOf('boss', 'schema_link'),
	fieldOf('tags', 'chips'),
	fieldOf('age', 'number'),
	fieldOf('code', 'text', { importKey: true }),
].map((field) => [field.name, field] as const);
const typed = new Map(TYPES);

test.each<[title: string, field: string, value: FieldValues[string], mode: 'create' | 'upsert', hint: string]>([
	['a link: its ID', 'boss', { id: 'Ada' }, 'create', "Correct the value of 'boss'."],
	['one text with commas in a list: its entries', 'tags', ['a, b'], 'create', `'tags' accepts a list: give ["a","b"] instead of one text.`],
	[
		'one text with semicolons: its entries',
		'tags',
		['a, b; c;'],
		'create',
		`'tags' accepts a list: give ["a, b","c"] instead of one text.`,
	],
	['a text without commas in a list: its value', 'tags', ['a'], 'create', "Correct the value of 'tags'."],
	['texts in a list: its value', 'tags', ['a,b', 'c'], 'create', "Correct the value of 'tags'."],
	['no text in a list: its value', 'tags', [5], 'create', "Correct the value of 'tags'."],
	['an empty list: its value', 'tags', [], 'create', "Correct the value of 'tags'."],
	['a text that is no list: its value', 'tags', 'a,b', 'create', "Correct the value of 'tags'."],
	['a list in another field: its value', 'age', ['1,5'], 'create', "Correct the value of 'age'."],
	[
		'the import key of what is created: update',
		'code',
		'k',
		'create',
		"Correct the value of 'code'. If a record already has it, use 'Create or Update' to update that record.",
	],
	['the import key of another write: its value', 'code', 'k', 'upsert', "Correct the value of 'code'."],
])('what to do about %s', (_, field, value, mode, hint) => {
	expect(rejectionHint({ [field]: value }, `'${field}' is wrong`, { mode, fields: typed })).toBe(hint);
});

test.each<[title: string, item: ItemOutcome, hint: string | undefined]>([
	['rejected by a status', { outcome: 'failed', status: 422, message: "'age' is wrong" }, "Correct the value of 'age'."],
	['rejected without a status', { outcome: 'failed', message: "'age' is wrong" }, "Correct the value of 'age'."],
	['rejected without a reason', { outcome: 'failed', status: 400 }, NONE],
	['that failed with a hint', { outcome: 'failed', message: "'age'", hint: 'own' }, 'own'],
	['that failed by another status', { outcome: 'failed', status: 403, message: "'age'" }, undefined],
	['that no platform explained', { outcome: 'failed', status: 400, message: 'Down', hint: 'Check the network.' }, undefined],
	['that was not attempted', { outcome: 'failed', notAttempted: true, message: "'age'" }, undefined],
	['that was written', { outcome: 'inserted', message: "'age'" }, undefined],
])('an item %s has the hint of it', (_, item, hint) => {
	expect(withNextStep(item, {}, { mode: 'create', fields })).toEqual(hint === undefined ? item : { ...item, hint });
});

test('a field that was sent comes first', () => {
	expect(hintOf("'age' and 'name' differ", { name: 'x' })).toBe("Correct the value of 'name'.");
});

test('a message is not searched for each of a hundred fields', () => {
	const wide = new Map(Array.from({ length: 100 }, (_, at) => [`field${at}`, fieldOf(`field${at}`)] as const));
	const includes = jest.spyOn(String.prototype, 'includes');
	const hint = rejectionHint({}, "'field99' is too small", { mode: 'create', fields: wide });
	const searches = includes.mock.calls.length;
	includes.mockRestore();
	expect(hint).toBe("Correct the value of 'field99'.");
	expect(searches).toBeLessThan(10);
});
