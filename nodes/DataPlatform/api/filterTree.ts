/**
 * Reads filters that users write: a tree as JSON, and single conditions.
 */
import { OPERATORS, takesList, takesNoValue, type Condition, type Group } from './filters';
import { InputError } from '../transport/errors';
import { isObject, parseExactJson } from '../transport/json';

const EMPTY_VALUE_HINT =
	"If it is an expression, it returned nothing for this item. Give it a value; to find empty fields use the operator 'Is Empty' (empty).";

/** Makes the error of what is wrong with a part of a filter. */
type Wrong = (message: string, hint: string) => InputError;

/**
 * Rejects unknown members: ignoring one could widen the filter, and read or delete too much.
 *
 * @throws {InputError}
 */
function requireKnownMembers(entry: object, known: string[], at: string, wrong: Wrong): void {
	const other = Object.keys(entry).find((name) => !known.includes(name));
	if (other === undefined) return;
	throw wrong(
		`The filter tree has an unknown member '${other}' at '${at}'`,
		'A condition is {"field","operator","value"}, a group {"filter":[…],"filterOperator":"and"} or "or"; neither has other members.',
	);
}

/**
 * Reads a filter tree that a user wrote as JSON. A tree without conditions matches every record; a
 * group inside it must have some.
 *
 * @param field the field that errors name
 * @throws {InputError} that names the place in the tree
 */
export function parseTree(value: unknown, field: string, place = 'filter'): Group {
	const wrong: Wrong = (message, hint) => new InputError(message, { field, hint });
	const unreadable = (at: string, hint: string) =>
		wrong(`The filter tree is not readable at '${at}'`, hint);
	const group = isObject(value) ? value : { filter: value };
	const { filter: entries, filterOperator = 'and' } = group;
	if (!Array.isArray(entries) || (filterOperator !== 'and' && filterOperator !== 'or')) {
		throw unreadable(place, 'A group is {"filter":[…],"filterOperator":"and"} or "or".');
	}
	requireKnownMembers(group, ['filter', 'filterOperator'], place, wrong);
	const filter = entries.map((entry: unknown, index) => {
		const at = `${place}[${index}]`;
		if (!isObject(entry)) {
			throw unreadable(at, 'A condition is {"field":"age","operator":"gte","value":"18"}.');
		}
		if (!('filter' in entry)) {
			requireKnownMembers(entry, ['field', 'operator', 'value'], at, wrong);
			return parseCondition(entry, `The condition at '${at}'`, field);
		}
		const inner = parseTree(entry, field, at);
		if (inner.filter.length > 0) return inner;
		throw wrong(
			`The group at '${at}' has no condition`,
			'Add a condition to it, or remove the group: every record would match it.',
		);
	});
	return { filter, filterOperator };
}

/**
 * Reads one condition. Without a field, an operator or a value it is an error: leaving the
 * condition out, or sending it incomplete, would match other records than the user wants. A value of
 * only white space is none either: an expression such as `{{ $json.first }} {{ $json.last }}` leaves
 * it if both fields are empty.
 *
 * @param place what messages call it
 * @param parameter the parameter that holds it
 * @throws {InputError}
 */
export function parseCondition(
	{ field, operator, value }: Record<string, unknown>,
	place: string,
	parameter: string,
): Condition {
	const wrong: Wrong = (message, hint) =>
		new InputError(`${place} ${message}`, { field: parameter, hint });
	if (typeof field !== 'string' || field.trim() === '') {
		throw wrong('names no field', 'Choose a field, or remove the condition.');
	}
	const operators = `Operators are: ${OPERATORS.join(', ')}.`;
	if (typeof operator !== 'string' || operator === '') {
		throw wrong(`on '${field}' has no operator`, operators);
	}
	if (!OPERATORS.includes(operator))
		throw wrong(`has an unknown operator, '${operator}'`, operators);
	if (takesNoValue(operator)) return { field, operator };
	return {
		field,
		operator,
		value: parseValue(operator, value, (problem, hint) =>
			wrong(`on '${field}' (${operator}) ${problem}`, hint),
		),
	};
}

function parseValue(operator: string, value: unknown, wrong: Wrong): string | string[] {
	const given = takesList(operator) && typeof value === 'string' ? splitList(value) : value;
	const entries: unknown[] = [given].flat();
	const texts = entries.map((entry) => {
		const text = textOf(entry);
		if (text === undefined) {
			throw wrong(
				'has a value that is neither text, number, date, true nor false',
				'Correct the expression in it.',
			);
		}
		if (text.trim() === '') throw wrong('has an empty value', EMPTY_VALUE_HINT);
		return text;
	});
	if (takesList(operator)) {
		if (texts.length > 0 || operator === 'in') return texts;
		throw wrong(
			'has an empty list, so every record would match',
			'Give the list a value, or remove the condition.',
		);
	}
	if (texts.length === 1) return texts[0]!;
	if (texts.length === 0) throw wrong('has an empty value', EMPTY_VALUE_HINT);
	throw wrong(`accepts one value, not ${texts.length}`, "For several values use 'in'.");
}

/**
 * The values in a text: those of a JSON list, because n8n writes a list into a text as JSON;
 * otherwise those between commas, without the spaces around them, so that
 * `open, sent ` does not miss what is sent. One or two backslashes escape a comma inside a value.
 */
function splitList(text: string): unknown[] {
	const list = text.trimStart().startsWith('[') ? parseExactJson(text) : undefined;
	if (Array.isArray(list)) return list;
	return text.split(/(?<!\\),/).map((entry) => entry.replace(/\\{1,2},/g, ',').trim());
}

/** A single value as text: empty if it is missing, undefined if it is not a single value. */
function textOf(value: unknown): string | undefined {
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return value;
	if (typeof value === 'boolean') return String(value);
	if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
	// n8n has already turned its own dates into text, but not JavaScript's.
	const isDate = Object.prototype.toString.call(value) === '[object Date]';
	return isDate ? ((value as Date).toJSON() ?? undefined) : undefined;
}
