/** `number`, `decimal`, `money`, `percentage`. */
import type { JsonValue } from '../../api/types';
import { isExactNumber, NUMBER } from '../../transport/json';
import { problem, showValue } from '../convert';
import { sameBy } from '../equality';
import { numberRemedy, type Remedy } from '../remedies';
import { USUAL, type Conversion, type FieldType } from '../fieldType';

const numeric =
	(isWhole: boolean): Conversion =>
	(given, { metadata: { min, max } }) => {
		const value = typeof given === 'bigint' ? String(given) : given;
		const isText = typeof value === 'string' && NUMBER.test(value);
		const result = typeof value === 'number' || isText ? Number(value) : NaN;
		if (!Number.isFinite(result)) return problem(`accepts a number, not ${showValue(value)}`);
		if (isWhole && !Number.isSafeInteger(result)) {
			return problem(`accepts a whole number, not ${showValue(value)}`);
		}
		if (isText && !isExactNumber(value, result)) {
			return problem(
				`accepts a number of about 15 digits at most: ${showValue(value)} would become ${result}`,
			);
		}
		if (result < (min ?? -Infinity)) return problem(`must be at least ${min}, not ${result}`);
		if (result > (max ?? Infinity)) return problem(`must be at most ${max}, not ${result}`);
		// JSON has no negative zero.
		return { value: result || 0 };
	};

/** A stored number. Some services return decimals as text. */
function toNumber(value: JsonValue): number | undefined {
	if (typeof value === 'number') return value;
	if (typeof value !== 'string' || !NUMBER.test(value)) return undefined;
	return isExactNumber(value, Number(value)) ? Number(value) : undefined;
}

export const sameNumber = sameBy(toNumber);

/** Groups must have exactly three digits: 1,23 is not a grouped number. */
const GROUPED = {
	point: /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/,
	comma: /^[+-]?\d{1,3}(?:([. \u00a0\u202f'])\d{3})(?:\1\d{3})*(?:,\d*)?$/,
};
const COMMA = /^[+-]?(?:\d+(?:,\d+)?|,\d+)(?:e[+-]?\d+)?$|^[+-]?\d+,$/i;

/**
 * A number in the file's format. If that has digit groups or a decimal comma, no other format is
 * accepted.
 */
const parseNumber: FieldType['parse'] = (given, { numbers }) => {
	const text = given.trim();
	if (numbers === 'point') {
		return { value: GROUPED.point.test(text) ? text.replaceAll(',', '') : text };
	}
	if (numbers === 'plain') return { value: text };
	if (GROUPED.comma.test(text))
		return { value: text.replace(/[. \u00a0\u202f']/g, '').replace(',', '.') };
	if (COMMA.test(text)) return { value: text.replace(',', '.') };
	return problem(`accepts a number with a decimal comma, not ${showValue(text)}`);
};

export const decimal: FieldType = {
	...USUAL,
	parse: parseNumber,
	convert: numeric(false),
	remedy: numberRemedy,
	equals: sameNumber,
	key: (value) => toNumber(value)?.toString(),
	editor: { type: 'number' },
	comparison: 'order',
	aggregations: ['avg', 'max', 'min', 'sum'],
};

/** As exact as JavaScript: 59.97 for 59.970000000000006, which is 3 * 19.99. */
const toCents: Conversion = (given, field) => {
	const converted = decimal.convert(given, field);
	if ('problem' in converted) return converted;
	const value = Number(Number(converted.value).toPrecision(15));
	if (value === Number(value.toFixed(2))) return { value };
	return problem(`accepts two decimals at most, not ${showValue(given)}`);
};

const centsRemedy: Remedy = (text, source) => {
	if (!NUMBER.test(text)) return numberRemedy(text, source);
	const isNumber = `Number(${source}) === parseFloat(${source})`;
	return source && `use {{ ${isNumber} ? Number(${source}).toFixed(2) : ${source} }}`;
};

export const money: FieldType = { ...decimal, convert: toCents, remedy: centsRemedy };

export const integer: FieldType = { ...decimal, convert: numeric(true) };

export const percentage: FieldType = {
	...decimal,
	editor: { ...decimal.editor, hint: '0.1 is 10 %' },
};
