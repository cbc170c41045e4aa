/** `money_with_currency`, `url_link`, `checklist`, `chat`: values with parts. */
import type { JsonValue } from '../../api/types';
import { getOwn, isExactNumber, membersOf, NUMBER } from '../../transport/json';
import { fromJsonText, isJson, isPlainObject, parseJsonCell, problem, showValue } from '../convert';
import { sameBoolean, sameOrUnknown, sameParts, sameText } from '../equality';
import { isCleared, USUAL, type Converted, type FieldType } from '../fieldType';
import { sameNumber } from './number';
import { sameDay, toDay, wrongTime } from './time';

type Parts = Record<string, JsonValue | undefined>;

/** An object, given as such or as JSON text, with its required parts. */
function withParts(
	raw: unknown,
	example: string,
	required: string[],
): { value: Parts } | { problem: string } {
	const value = fromJsonText(raw);
	const has = (name: string) => isPlainObject(value) && getOwn(value, name) !== undefined;
	if (isPlainObject(value) && isJson(value) && required.every(has)) return { value };
	return { problem: `accepts an object such as ${example}, not ${showValue(raw)}` };
}

function toMoney(raw: unknown): Converted {
	const shape = withParts(raw, '{"amount":9.5,"currency":"EUR"}', ['amount', 'currency']);
	if ('problem' in shape) return shape;
	const { value } = shape;
	const { amount, currency, date } = value;
	const isNumber = typeof amount === 'string' && NUMBER.test(amount);
	if (isNumber && !isExactNumber(amount, Number(amount))) {
		return problem(
			`accepts a number of about 15 digits at most as 'amount', not ${showValue(amount)}`,
		);
	}
	if (typeof amount !== 'number') {
		return problem(`accepts a number as 'amount', not ${showValue(amount)}`);
	}
	if (typeof currency !== 'string')
		return problem(`accepts text as 'currency', not ${showValue(currency)}`);
	if (isCleared(date)) return { value };
	const day = toDay(date);
	if (day !== undefined) return { value: { ...value, date: day } };
	return wrongTime("a date such as 2026-11-21 as 'date'", date);
}

const object = { ...USUAL, parse: parseJsonCell };

const asJson: FieldType['editor'] = { type: 'string', hint: 'JSON' };

export const moneyWithCurrency: FieldType = {
	...object,
	convert: toMoney,
	equals: sameParts({ amount: sameNumber, currency: sameText, date: sameDay }),
	editor: asJson,
};

/** Group 1 is the address. */
const MAIL_ADDRESS = /^(?:mailto:)?([^\s@:/?]+@[^\s@:/?]+)$/i;

function toLink(raw: unknown): Converted {
	const given = fromJsonText(raw);
	if (typeof given === 'string') {
		const mail = MAIL_ADDRESS.exec(given)?.[1];
		return { value: mail ? { href: mail, isMailto: true } : { href: given } };
	}
	const shape = withParts(given, '{"href":"https://example.com"}', ['href']);
	if ('problem' in shape) return shape;
	const { value } = shape;
	const { href, description } = value;
	if (typeof href !== 'string' || href === '') {
		return problem(`accepts text as 'href', not ${showValue(href)}`);
	}
	if (isCleared(description) || typeof description === 'string') return { value };
	return problem(`accepts text as 'description', not ${showValue(description)}`);
}

export const urlLink: FieldType = {
	...object,
	convert: toLink,
	equals: sameParts({ href: sameText, description: sameText, isMailto: sameBoolean }),
	editor: { type: 'string', hint: 'web address' },
};

/** Lists of objects, to which the platform adds IDs, times and counts: equal only as they were read. */
const withList = (name: string): FieldType => ({
	...object,
	convert: (raw) => {
		const shape = withParts(raw, `{"${name}":[…]}`, [name]);
		if ('problem' in shape) return shape;
		const { value } = shape;
		if (Array.isArray(value[name]) && value[name].every(isPlainObject)) return { value };
		return problem(`accepts a list of objects as '${name}', not ${showValue(value[name])}`);
	},
	equals: sameOrUnknown,
	// The platform may show an emptied field as an object without entries.
	isEmpty: (stored) => {
		if (isCleared(stored)) return true;
		return isPlainObject(stored) && isCleared(getOwn(stored, name)) ? undefined : false;
	},
	editor: asJson,
	comparison: 'presence',
});

export const checklist = withList('lists');

const textsOf = (value: JsonValue): unknown[] => {
	const { messages } = membersOf(value);
	if (!Array.isArray(messages)) return [];
	return messages.map((entry) => isPlainObject(entry) && entry.text);
};

/**
 * The contract does not say whether a chat is replaced or appended to. So only an equal chat is
 * certain, and messages sent twice may appear twice.
 */
export const chat: FieldType = {
	...withList('messages'),
	equals: (stored, sent) => {
		const held = new Set(textsOf(stored));
		return textsOf(sent).every((text) => held.has(text)) ? sameOrUnknown(stored, sent) : false;
	},
	appends: (sent) => isPlainObject(sent) && !isCleared(getOwn(sent, 'messages')),
};
