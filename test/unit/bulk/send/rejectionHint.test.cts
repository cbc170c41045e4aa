/** What a rejection says to do: it depends on the field that the platform's reason names. */
import { rejectionHint } from '../../../../nodes/DataPlatform/bulk/send/rejectionHint.ts';
import { fieldOf } from '../../fixtures.cts';

const fields = new Map(
	['age', 'name', "o'neil", 'size'].map((name) => [name, { ...fieldOf(name), header: name === 'size' ? 'The Size' : name }]),
);
const hintOf = (reason: string, values = {}) => rejectionHint(values, reason, { mode: 'create', fields });

const NONE = 'Check the item and run it again.';
test.each<[reason: string, hint: string]>([
	["'age' is too small", "Correct the value of 'age'."],
	['"age" is too small', "Correct the value of 'age'."],
	['`age` is too small', "Correct the value of 'age'."],
	["the field 'The Size' is too small", "Correct the value of 'size'."],
	["'o'neil' is too small", "Correct the value of 'o'neil'."],
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
