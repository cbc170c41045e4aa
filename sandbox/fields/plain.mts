import type { Field, Json } from '../state/model.mts';
import { parseDay, parseInstant, shownDay, shownTime } from './time.mts';
import { requireArray, quote, ValueError, type Codec } from './codec.mts';

function parseText(value: Json, field: Field): string {
	if (typeof value !== 'string') throw new ValueError(`must be a string, not ${quote(value)}`);
	const { maxLength } = field.metadata;
	if (maxLength !== undefined && [...value].length > maxLength) {
		throw new ValueError(`must be at most ${maxLength} characters long`);
	}
	return value;
}

function parseChoice(value: Json, field: Field): string {
	const text = parseText(value, field);
	const choices = field.metadata.items?.map((item) => item.value);
	if (choices && !choices.includes(text)) {
		throw new ValueError(`must be one of ${choices.map(quote).join(', ')}, not ${quote(text)}`);
	}
	return text;
}

function parseNumber(value: Json, field: Field): number {
	// JSON has no infinity, but 1e999 is parsed as one.
	if (typeof value !== 'number' || !Number.isFinite(value)) {
		throw new ValueError(`must be a number, not ${quote(value)}`);
	}
	const { min, max } = field.metadata;
	if (min !== undefined && value < min) throw new ValueError(`must be at least ${min}`);
	if (max !== undefined && value > max) throw new ValueError(`must be at most ${max}`);
	return value;
}

/** `text`, `long_text`, `markdown`. */
export const text: Codec = { comparison: { as: 'text' }, canBeKey: true, parse: parseText };

/** `radio`, `dropdown`: one of the choices in `metadata.items`. */
export const choice: Codec = { ...text, parse: parseChoice };

/** `number`: an integer. */
export const integer: Codec = {
	comparison: { as: 'number' },
	canBeKey: true,
	parse(value, field) {
		if (!Number.isSafeInteger(value)) {
			throw new ValueError(`must be an integer, not ${quote(value)}`);
		}
		return parseNumber(value, field);
	},
};

/** `decimal`, `percentage`. */
export const decimal: Codec = { comparison: { as: 'number' }, canBeKey: true, parse: parseNumber };

/** `money`: two decimals. Whether a service rejects or rounds more is unknown: this is stricter. */
export const money: Codec = {
	...decimal,
	parse(value, field) {
		const amount = parseNumber(value, field);
		if (Number(amount.toFixed(2)) === amount) return amount;
		throw new ValueError(`must have two decimals at most, not ${quote(value)}`);
	},
};

/** `checkbox`. */
export const checkbox: Codec = {
	comparison: { as: 'boolean' },
	parse(value) {
		if (typeof value !== 'boolean') {
			throw new ValueError(`must be true or false, not ${quote(value)}`);
		}
		return value;
	},
};

const fourForms = 'YYYY-MM-DD, YYYY-MM-DDZ, YYYY-MM-DDTHH:mm:ss or YYYY-MM-DDTHH:mm:ssZ';

/** `date`: stored as `YYYY-MM-DD`; a time is converted to the application's time zone first. */
export const date: Codec = {
	comparison: { as: 'date' },
	canBeKey: true,
	parse(value, _field, { dateRules }) {
		const day = typeof value === 'string' ? parseDay(value, dateRules) : undefined;
		if (day !== undefined) return day;
		const expected = { current: fourForms, older: 'midnight UTC, YYYY-MM-DDT00:00:00Z' };
		throw new ValueError(
			`must be a date (${expected[dateRules.settings.dates]}), not ${quote(value)}`,
		);
	},
	serialize: (value, _field, { settings }) => shownDay(String(value), settings),
};

/** `datetime`: stored in UTC; without a zone it is in the application's. */
export const datetime: Codec = {
	comparison: { as: 'datetime' },
	canBeKey: true,
	parse(value, _field, { dateRules }) {
		const instant = typeof value === 'string' ? parseInstant(value, dateRules) : undefined;
		if (instant !== undefined) return new Date(instant).toISOString();
		const expected = { current: fourForms, older: 'in UTC, YYYY-MM-DDTHH:mm:ssZ' };
		throw new ValueError(
			`must be a date and time (${expected[dateRules.settings.dates]}), not ${quote(value)}`,
		);
	},
	serialize: (value, _field, { settings }) => shownTime(String(value), settings),
};

function parseTexts(value: Json, each: (entry: Json, field: Field) => string, field: Field): Json {
	return requireArray(value, 'an array of strings').map((entry) => each(entry, field));
}

/** `dropdownmulti`: some of the choices in `metadata.items`. */
export const choices: Codec = {
	comparison: { as: 'text', each: true },
	parse: (value, field) => parseTexts(value, parseChoice, field),
};

/** `chips`: any strings. */
export const chips: Codec = {
	comparison: { as: 'text', each: true },
	parse: (value, field) => parseTexts(value, parseText, field),
};
