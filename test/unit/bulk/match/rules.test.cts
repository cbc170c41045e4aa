/** Field rules: what is written of a record that exists. */
import type { JsonValue } from '../../../../nodes/DataPlatform/api/types.ts';
import { applyFieldRules } from '../../../../nodes/DataPlatform/bulk/match/rules.ts';
import { fieldOf } from '../../fixtures.cts';
import type { FieldRules } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const fields = new Map(
	[
		fieldOf('code'),
		fieldOf('text'),
		fieldOf('number', 'number'),
		fieldOf('flag', 'checkbox'),
		fieldOf('list', 'chips'),
		fieldOf('files', 'file'),
		fieldOf('link', 'schema_link'),
		fieldOf('links', 'schema_link', { multiple: true }),
		fieldOf('web', 'url_link'),
		fieldOf('steps', 'checklist'),
	].map((field) => [field.name, field]),
);

const apply = (sent: Record<string, JsonValue>, stored: Record<string, JsonValue>, rules: FieldRules) =>
	applyFieldRules({ index: 0, fields: sent }, { id: 'r1', fields: stored }, rules, fields);

const ifEmpty = (name: string): FieldRules => new Map([[name, 'ifEmpty']]);

test.each<[string, JsonValue | undefined, boolean]>([
	// The response omits it.
	['text', undefined, false],
	['list', undefined, false],
	['text', null, true],
	['text', '', true],
	['text', ' \t\n', true],
	['text', '0', false],
	['number', null, true],
	['number', 0, false],
	['flag', null, true],
	['flag', false, false],
	['flag', true, false],
	['list', [], true],
	['list', [''], false],
	['files', [], true],
	['link', null, true],
	['link', { id: 'x' }, false],
	['links', { count: 0, url: 'u' }, true],
	['links', { count: 1, url: 'u' }, false],
	['web', { href: 'https://example.com' }, false],
	// What can't be seen to be empty is kept.
	['steps', { lists: [] }, false],
])('%s: %j is empty: %s', (name, stored, isEmpty) => {
	const record = apply({ code: 'a', [name]: 'x' }, stored === undefined ? {} : { [name]: stored }, ifEmpty(name));
	expect(Object.hasOwn(record.fields, name)).toBe(isEmpty);
});

test('a field that only new records get is kept, even if it is empty', () => {
	const rules: FieldRules = new Map([['text', 'whenCreating']]);
	const record = apply({ code: 'a', text: 'x', number: 1 }, { text: '' }, rules);
	expect(record.fields).toEqual({ code: 'a', number: 1 });
	expect(record.kept).toEqual(['text']);
});

test('what holds the same value anyway is not said to be kept', () => {
	const record = apply({ text: 'x' }, { text: 'x' }, ifEmpty('text'));
	expect([record.fields, record.kept]).toEqual([{}, undefined]);
});

test('a record without a field that has a rule is left as it is', () => {
	const record = { index: 0, fields: { code: 'a' } };
	const stored = { id: 'r1', fields: {} };
	expect(applyFieldRules(record, stored, ifEmpty('text'), fields)).toBe(record);
});
