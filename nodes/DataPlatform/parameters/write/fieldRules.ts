/**
 * Which fields an existing record keeps.
 */
import type { TableDefinition } from '../../api/types';
import { choice, list } from '../../parameterKinds/kinds';
import { isWritable } from '../../fields';
import { fieldPart } from '../select/table';
import { LABELS } from '../../labels';
import type { FieldRules } from '../../bulk/writeTask';
import type { MatchOn, WriteMode } from '../../bulk/terms';

const fieldRule = choice('rule', {
	label: 'Write It',
	choices: {
		always: ['Always', 'Write the value of the item'],
		whenCreating: ['Only When Creating', 'A record that exists keeps its value'],
		ifEmpty: ['Only If Empty', 'A record that exists keeps its value, unless it has none'],
	},
	preset: 'ifEmpty',
	description: "When to write the field. A new record always gets the item's value.",
});

const ruledField = fieldPart('getWritableFields');

export const fieldRules = list('fieldRules', {
	label: LABELS.fieldRules,
	add: 'Add Field',
	entry: ['field', 'Field'],
	description:
		'Fields that an existing record keeps. The current values are read first, and only what differs is written.',
	parts: [ruledField, fieldRule],
});

/**
 * The rules for a table's fields.
 *
 * @param on the fields that records are found by, which take no rule
 * @throws {InputError} if a rule makes no sense
 */
export function fieldRulesOf(
	entries: ReturnType<typeof fieldRules.of>,
	table: TableDefinition,
	on: MatchOn,
	mode: WriteMode,
): FieldRules | undefined {
	const names = new Set<string>();
	const rules = new Map<string, 'whenCreating' | 'ifEmpty'>();
	const wrong = (message: string, hint: string) =>
		fieldRules.error(`${fieldRules}: ${message}`, hint);
	for (const entry of entries) {
		const name = ruledField.in(entry, fieldRules);
		const definition = table.fields.find((known) => known.name === name);
		const choose = 'Choose the field from the list, or remove the entry.';
		if (name === '') throw wrong('an entry has no field', 'Choose it, or remove the entry.');
		if (!definition) throw wrong(`table '${table.header}' has no field '${name}'`, choose);
		if (!isWritable(definition)) throw wrong(`'${name}' is read-only`, choose);
		if (names.has(name)) throw wrong(`there are two entries for '${name}'`, 'Remove one.');
		if (on !== 'recordId' && on.includes(name)) {
			throw wrong(`records are found by '${name}'`, 'Remove the entry.');
		}
		const rule = fieldRule.in(entry, fieldRules);
		names.add(name);
		if (rule !== 'always') rules.set(name, rule);
	}
	if (rules.size === 0) return undefined;
	if (mode !== 'replace') return rules;
	throw wrong(
		"they can't keep a field if those not sent are cleared",
		'Remove them, or leave the fields that are not sent as they are.',
	);
}
