/**
 * Filters in a query string, which only joins conditions by AND.
 */
import {
	and,
	isGroup,
	takesList,
	takesNoValue,
	valuesOf,
	withoutEscaping,
	type Condition,
	type Group,
} from './filters';
import { InputError } from '../transport/errors';
import { encodeUrlComponent } from '../transport/urlEncoding';

/** Some proxies reject longer query strings; the limit counts percent-encoded characters. */
const MAX_QUERY_LENGTH = 6000;

/** The conditions of a filter that only joins by AND. Undefined if it has other groups. */
export function asAndConditions(filter: Group): Condition[] | undefined {
	if (filter.filterOperator === 'or' && filter.filter.length > 1) return undefined;
	const parts = filter.filter.map((entry) => {
		if (isGroup(entry)) return asAndConditions(entry);
		const isEmptyList = takesList(entry.operator) && valuesOf(entry).length === 0;
		if (isEmptyList) return asAndConditions(and(withoutEscaping(entry)));
		return [entry];
	});
	if (parts.includes(undefined)) return undefined;
	return parts.flatMap((part) => part!);
}

/**
 * True for the value `C:\` and for a list with `a)`: in a query string, a backslash at the end would
 * escape the next character, a bracket would end the list.
 */
export function isUnfitForQuery(condition: Condition): boolean {
	const unfit = takesList(condition.operator) ? /[()]|\\$/ : /\\$/;
	return valuesOf(condition).some((value) => unfit.test(value));
}

/** In a query string, two backslashes escape a comma inside a value. */
const escapeValue = (value: string) => value.replaceAll(',', '\\\\,');

/**
 * Conditions in the format of a query string: `age(gte)10,surname(in)(Fox,Dog)`.
 *
 * @throws {InputError} if part of a field's name would be read as an operator or a value
 */
export function toQuery(conditions: Condition[]): string {
	return conditions
		.map((condition) => {
			const { field, operator, value = '' } = condition;
			if (/[(),]/.test(field)) {
				throw new InputError(`No field is called '${field}'. Nothing was sent`, {
					field,
					hint: 'Correct the name in the filter.',
				});
			}
			if (takesNoValue(operator)) return `${field}(${operator})`;
			if (!Array.isArray(value)) return `${field}(${operator})${escapeValue(value)}`;
			return `${field}(${operator})(${value.map(escapeValue).join(',')})`;
		})
		.join(',');
}

/** Short enough for a query string, also once it is encoded: `ä` takes six characters. */
export const fitsQuery = (text: string): boolean =>
	text.length <= MAX_QUERY_LENGTH && encodeUrlComponent(text).length <= MAX_QUERY_LENGTH;

/** A value that no parser can misread in a query string: nothing to escape, nothing to trim. */
const isPlain = (value: string) => !/[,\\()]|^\s|\s$/.test(value);

/**
 * The filter as a query string that can't be misread. Undefined if it joins by OR, has a value that
 * needs escaping, or is too long for a URL.
 */
export function asPlainQuery(filter: Group): string | undefined {
	const conditions = asAndConditions(filter);
	if (!conditions?.every((condition) => valuesOf(condition).every(isPlain))) return undefined;
	const text = toQuery(conditions);
	return fitsQuery(text) ? text : undefined;
}
