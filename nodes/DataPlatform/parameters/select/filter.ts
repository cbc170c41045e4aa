/**
 * The filter builder's parameters, and how they become the platform's filter.
 */
import {
	isGroup,
	OPERATORS_WITHOUT_VALUE,
	valuesOf,
	type Condition,
	type Group,
} from '../../api/filters';
import { parseCondition, parseTree } from '../../api/filterTree';
import type { DefinedTable, TableDefinition } from '../../api/types';
import type { Entry, NameOf, ParameterReader } from '../../parameterKinds/parameter';
import { anyValue, choice, list } from '../../parameterKinds/kinds';
import { emptyValue } from '../../parameterKinds/requireValue';
import type { RunContext } from '../../run/run';
import { fieldType } from '../../fields';
import { resolveTimeZone } from '../../fields/timeZone';
import { isBlank, isDateOrTime, keyText, toFieldValue } from '../../fields/values';
import { didYouMean } from '../../transport/closestName';
import { InputError, serviceErrorOrThrow, ServiceError } from '../../transport/errors';
import { getOwn, parseExactJson } from '../../transport/json';
import { nameList } from '../../transport/messageText';
import {
	checkNames,
	namesIn,
	refuseUnchecked,
	uncheckedNotice,
	type FieldName,
	type NameCheck,
} from './fieldNames';
import {
	CHOOSE_ID,
	fieldPart,
	tableChoice,
	tableChoices,
	tableOf,
	type TableParameter,
} from './table';
import { LABELS } from '../../labels';

/** The platform's `===`, renamed because n8n treats a value that begins with = as an expression. */
export const EXACTLY = 'exactly';

/**
 * Operators whose value is chosen from a list: the platform's operator, and the parameter with the
 * value.
 */
export const CHOICE_OPERATORS = {
	is: { operator: 'eq', from: 'choice' },
	isNot: { operator: 'neq', from: 'choice' },
	isOneOf: { operator: 'in', from: 'choices' },
	isNoneOf: { operator: 'notin', from: 'choices' },
} as const;

/** The operators that take their value from this parameter. */
const operatorsWith = (name: 'choice' | 'choices') =>
	Object.entries(CHOICE_OPERATORS)
		.filter(([, { from }]) => from === name)
		.map(([operator]) => operator);

const matchType = choice('matchType', {
	label: 'Match',
	choices: { and: 'All Conditions', or: 'Any Condition' },
	preset: 'and',
	description: 'Whether a record must meet every condition and group, or one of them',
});

/** The hint for n8n's AI about a value that is compared or written. */
export const TEXT_ONLY = "Always a string, such as '18', 'true' or '2026-01-31'.";

const conditionParts = [
	fieldPart('getFilterFields', {
		description: `${CHOOSE_ID}. A field of a linked record is written as link.field, such as company.name.`,
	}),
	tableChoice('operator', {
		label: 'Operator',
		list: ['getOperators', '&field'],
		preset: 'eq',
		description: 'How to compare. The list depends on the type of the field.',
		aiHint:
			"With 'value': eq, neq, exactly, contains, notcontains, startswith, endswith, gt, gte, lt, lte, in, notin. With 'choice': is, isNot. With 'choices': isOneOf, isNoneOf. Without a value: empty, notempty, currentuser, duplicity. For checkboxes and dropdowns use is and isOneOf.",
	}),
	anyValue('value', {
		label: 'Value',
		hide: { operator: [...OPERATORS_WITHOUT_VALUE, ...Object.keys(CHOICE_OPERATORS)] },
		description:
			"What to compare with; it must not be empty. For 'One Of' and 'Not One Of', separate values with commas (write a comma inside a value as \\,) or give a list with an expression.",
		aiHint: TEXT_ONLY,
	}),
	tableChoice('choice', {
		label: 'Value (From List)',
		list: ['getChoice', '&field'],
		show: { operator: operatorsWith('choice') },
	}),
	tableChoices('choices', {
		label: 'Values (From List)',
		list: ['getChoices', '&field'],
		show: { operator: operatorsWith('choices') },
	}),
];

const conditions = list('conditions', {
	label: 'Conditions',
	add: 'Add Condition',
	entry: ['condition', 'Condition'],
	parts: conditionParts,
});

const groups = list('groups', {
	label: 'Groups',
	add: 'Add Group',
	entry: ['group', 'Group'],
	description:
		'Conditions in brackets: a group counts as one condition, such as (Age over 18 or Surname is Fox)',
	parts: [matchType.with({ preset: 'or' }), conditions],
});

const filterTree = anyValue('filterTree', {
	label: 'Filter Tree',
	type: 'json',
	preset: '{\n  "filterOperator": "and",\n  "filter": []\n}',
	description:
		'Conditions are {"field","operator","value"}, groups {"filter":[…],"filterOperator":"or"}; they may be nested. For in and notin, the value is a list, or values separated by commas.',
});

export const filterMode = choice('filterMode', {
	label: LABELS.filterMode,
	choices: { none: 'None', conditions: 'Conditions', json: 'JSON' },
	preset: 'none',
	description: 'Which records to include',
	aiHint:
		"'conditions' for nearly every filter. Filter here, not in a node behind this one: the platform returns matching records only.",
});

interface FilterChanges {
	description?: string;
	preset?: 'conditions';
	/** If it is used, the filter must have at least one condition. */
	required?: true;
	/** Other conditions for showing the filter. */
	show?: Record<string, string[]>;
}

/** The filter builder's parameters for one operation. */
export const filterWith = ({ description, preset, required, show }: FilterChanges) => {
	const shownFor = (mode: string) => ({ show: { ...show, filterMode: [mode] } });
	return [
		filterMode.with({ description, preset, show }),
		matchType.with(shownFor('conditions')),
		conditions.with({ required, ...shownFor('conditions') }),
		groups.with(shownFor('conditions')),
		filterTree.with({ required, ...shownFor('json') }),
	];
};

export const filterParameters = filterWith({});

export type FilterParameter = NameOf<typeof filterParameters>;

/** Converts a condition of the editor into the platform's format. */
function toCondition(condition: Entry<NameOf<typeof conditionParts>>) {
	const { field, operator, value } = condition;
	const chosen = getOwn<(typeof CHOICE_OPERATORS)[keyof typeof CHOICE_OPERATORS]>(
		CHOICE_OPERATORS,
		String(operator),
	);
	if (!chosen) return { field, operator: operator === EXACTLY ? '===' : operator, value };
	const given = condition[chosen.from];
	const isNone = Array.isArray(given) && given.length === 0;
	return { field, operator: chosen.operator, value: isNone ? [''] : given };
}

const conditionsIn = (entries: ReturnType<typeof conditions.of>, place: string): Condition[] =>
	entries.map((condition, index) =>
		parseCondition(toCondition(condition), `Condition ${index + 1} of ${place}`, conditions.label),
	);

function groupIn(entry: ReturnType<typeof groups.of>[number], index: number): Group {
	const place = `group ${index + 1} of the filter`;
	const filter = conditionsIn(conditions.in(entry, groups), place);
	if (filter.length > 0) return { filter, filterOperator: matchType.in(entry, groups) };
	throw groups.error(
		`Group ${index + 1} of the filter has no condition`,
		'Add a condition to it, or remove the group.',
	);
}

/** The filter in JSON. An expression, or an agent, that returns no condition does not mean all. */
function treeIn(reader: ParameterReader<FilterParameter>, index: number): Group {
	const value = filterTree.of(reader, index);
	if (isBlank(value)) throw emptyValue(filterTree);
	const tree = typeof value === 'string' ? parseExactJson(value) : value;
	if (tree === undefined) {
		throw filterTree.error(
			`${filterTree} is not valid JSON`,
			'A filter is {"filter":[…],"filterOperator":"and"} or a list of conditions.',
		);
	}
	const group = parseTree(tree, filterTree.label);
	const mayBeEmpty = !Array.isArray(tree) && !reader.isExpression(filterTree);
	if (group.filter.length > 0 || mayBeEmpty) return group;
	throw emptyValue(filterTree);
}

/**
 * The filter from the parameters. Without conditions it matches every record.
 *
 * @throws {InputError} if it can't be read, or an expression left a part of it empty
 */
export function filterOf(reader: ParameterReader<FilterParameter>, index: number): Group {
	switch (filterMode.of(reader, index)) {
		case 'none':
			return { filter: [], filterOperator: 'and' };
		case 'json':
			return treeIn(reader, index);
		case 'conditions':
			return {
				filter: [
					...conditionsIn(conditions.of(reader, index), 'the filter'),
					...groups.of(reader, index).map(groupIn),
				],
				filterOperator: matchType.of(reader, index),
			};
	}
}

/** Operators that compare the whole value. */
const WHOLE_VALUE = new Set(['eq', '===', 'neq', 'in', 'notin']);

const comparesWhole = ({ field, operator }: Condition) =>
	WHOLE_VALUE.has(operator) && !field.includes('.');

/** All conditions, including those in groups. */
const conditionsOf = ({ filter }: Group): Condition[] =>
	filter.flatMap((entry) => (isGroup(entry) ? conditionsOf(entry) : [entry]));

const mapValues = (group: Group, map: (condition: Condition, value: string) => string): Group => ({
	...group,
	filter: group.filter.map((entry) => {
		if (isGroup(entry)) return mapValues(entry, map);
		const { value } = entry;
		if (value === undefined) return entry;
		const mapped = valuesOf(entry).map((text) => map(entry, text));
		return { ...entry, value: Array.isArray(value) ? mapped : mapped[0] };
	}),
});

/** How many choices an error lists. */
const CHOICES_SHOWN = 20;

/**
 * Rejects a comparison of a dropdown with a value that it can't have. Such a condition matches
 * nothing or, with a negated operator, everything.
 *
 * @throws {InputError} that names the field and its choices
 */
function requireChoices(filter: Group, table: TableDefinition): void {
	for (const condition of conditionsOf(filter).filter(comparesWhole)) {
		const field = table.fields.find(({ name }) => name === condition.field);
		const choices =
			field &&
			fieldType(field)
				.editor.choices?.(field)
				?.map(({ value }) => String(value));
		if (!choices) continue;
		// `eq` and `in` may ignore case on the platform, so accept both. A negated operator must match
		// exactly.
		const ignoresCase = condition.operator === 'eq' || condition.operator === 'in';
		const form = (text: string) => (ignoresCase ? text.toLowerCase() : text);
		const known = new Set(choices.map(form));
		const other = valuesOf(condition).find((value) => !known.has(form(value)));
		if (other === undefined) continue;
		const named = choices.map((name) => ({ name }));
		const ending = didYouMean(other, named) || `: ${nameList(choices, CHOICES_SHOWN)}`;
		throw new InputError(
			`The condition on '${field.name}' (${condition.operator}) compares with '${other}', which isn't one of the field's choices${ending}`,
			{
				field: field.name,
				hint: "Correct the value. To find records that still hold a choice which was removed, use the operator 'Contains' (contains).",
			},
		);
	}
}

const ORDER = new Set(['gt', 'gte', 'lt', 'lte']);

/** The record's own times. */
const TIMES = new Set(['created', 'modified']);

const ISO_TIME = /^\s*\d{4}-\d\d-\d\d[T ]\d/;
const DAY = /^\s*\d{4}-\d\d-\d\d\s*$/;

const compares = ({ operator }: Condition) => ORDER.has(operator) || WHOLE_VALUE.has(operator);

/** A time of the record itself, or of another table. */
const OTHER_TIME = { name: '', header: '', type: 'datetime', metadata: { timeZone: '' } };

/**
 * The filter with its times in UTC, as the platform takes them. A time that is compared with a date
 * becomes its day; a day stays one. A condition on an unknown field is changed only if it compares by
 * order: another may compare text.
 *
 * @throws {InputError} for a time that is unclear, such as 24:00
 */
export function timesInUtc(filter: Group, table?: TableDefinition): Group {
	const inUtc = (condition: Condition, text: string) => {
		const { field: name, operator } = condition;
		const known = table?.fields.find((field) => field.name === name);
		const isTime = known ? isDateOrTime(known) : ORDER.has(operator) || TIMES.has(name);
		if (!isTime || !compares(condition) || DAY.test(text)) return text;
		const field = known ?? OTHER_TIME;
		const converted = toFieldValue(field, text, 'leave');
		if (converted === 'leave') return text;
		if ('problem' in converted) {
			// Each platform may read such a time in its own way; other texts may be words that it knows.
			if (!ISO_TIME.test(text) || !(known || TIMES.has(name))) return text;
			throw new InputError(`The condition on '${name}' (${operator}) ${converted.problem}`, {
				field: name,
				hint: 'Correct the value: give a time with its zone, such as 2026-11-21T09:30:00Z.',
			});
		}
		return keyText(field, converted.value) ?? String(converted.value);
	};
	return mapValues(filter, inUtc);
}

/** The same, with the application's time zone if a time needs it. @throws {InputError} */
export async function checkedFilter(target: DefinedTable, filter: Group): Promise<Group> {
	requireChoices(filter, target.table);
	const rows = conditionsOf(filter).flatMap((condition) =>
		valuesOf(condition).map((text) => !DAY.test(text) && { [condition.field]: text }),
	);
	await resolveTimeZone(target, rows);
	return timesInUtc(filter, target.table);
}

/** Without an expression, each item of the input runs the same query. */
function warnIfRepeated(run: RunContext<never>) {
	const count = run.items.length;
	if (count < 2 || run.expressions().length > 0) return;
	run.hintOnce(
		`The same query ran ${count} times, once for each item of the input. If once is enough, turn on 'Execute Once' in the node's settings.`,
		'warning',
	);
}

/**
 * The filter of an item that reads. The names of its fields and others, and its choices, are checked with
 * definitions that may be a minute old; a notice says what can't be checked.
 *
 * @param sorted the fields to sort by
 * @param fields to return or summarize: alone, they are checked if the definition is kept
 * @throws {InputError}
 */
export async function readFilter(
	run: RunContext<TableParameter | FilterParameter>,
	index: number,
	sorted: FieldName[] = [],
	fields: FieldName[] = [],
): Promise<Group> {
	warnIfRepeated(run);
	const filter = filterOf(run, index);
	const selecting = [...namesIn(filter), ...sorted];
	const names = [...selecting, ...fields];
	const handle = tableOf(run, index);
	const isAsked = selecting.length > 0 || (fields.length > 0 && handle.isKept);
	if (!isAsked) return filter;
	const unchecked: NameCheck['unchecked'] = (...about) =>
		run.client.notices.add(uncheckedNotice(...about));
	const checked = await handle
		.checkWithKept(async (table, definition) => {
			await checkNames({ definition, unchecked }, handle.with(table), names);
			return await checkedFilter(handle.with(table), filter);
		})
		.catch(serviceErrorOrThrow);
	if (!(checked instanceof ServiceError)) return checked;
	unchecked(names, checked);
	return timesInUtc(filter);
}

/**
 * A filter that selects what to remove, checked with the table's definition as it is now.
 *
 * @throws {InputError} if a field does not exist, or it can't be checked
 */
export async function checkedToRemove(of: DefinedTable, filter: Group): Promise<Group> {
	await checkNames({ unchecked: refuseUnchecked }, of, namesIn(filter));
	return await checkedFilter(of, filter);
}

/**
 * The filter of an item that deletes what matches.
 *
 * @throws {InputError}
 * @throws {ServiceError} if there is a filter and the table's definition can't be read
 */
export async function readRemovalFilter(
	run: RunContext<TableParameter | FilterParameter>,
	index: number,
): Promise<Group> {
	const filter = filterOf(run, index);
	if (filter.filter.length === 0) return filter;
	const handle = tableOf(run, index);
	const table = await handle.definition().catch((error: unknown) => {
		const failure = serviceErrorOrThrow(error);
		if (failure.status === 403) refuseUnchecked(namesIn(filter), failure);
		throw failure;
	});
	return await checkedToRemove(handle.with(table), filter);
}
