/**
 * One rule for parameter values, wherever they are read: an invalid value is an error that names
 * the parameter, the value and what is allowed.
 */
import { showValue } from '../fields/convert';
import { InputError } from '../transport/errors';
import { describeKind, isObject } from '../transport/json';

/** How an error names a parameter. */
export interface ParameterLabel {
	/** Its label in the editor. */
	label: string;
	/** The label of the list that it is a part of. */
	within?: string;
}

export const CORRECT = 'Correct the expression in it.';

/** An error about a parameter's value. @param what the problem, such as `is empty` */
export const wrongValue = ({ label, within }: ParameterLabel, what: string, hint: string) =>
	new InputError(`'${label}'${within === undefined ? '' : ` under '${within}'`} ${what}`, {
		field: within ?? label,
		hint,
	});

/** The error for a value that is not allowed. @param allowed such as `true or false` */
export function notAllowed(
	value: unknown,
	parameter: ParameterLabel,
	allowed: string,
	hint = CORRECT,
) {
	const isEmpty = value === undefined || value === null || value === '';
	const given = isEmpty ? 'it is empty' : `not ${showValue(value)}`;
	return wrongValue(parameter, `must be ${allowed}, ${given}`, hint);
}

interface Bounds {
	min: number;
	max?: number;
	/** It must be an integer. */
	isWhole?: boolean;
}

/** Text counts as a number if it is a plain decimal, such as `12` or `1.5`; not `0x2` or `1e3`. */
const toNumber = (value: unknown): unknown =>
	typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;

/** @throws {InputError} if it is not a number within the bounds */
export function requireNumber(
	value: unknown,
	parameter: ParameterLabel,
	{ min, max = Infinity, isWhole = false }: Bounds,
): number {
	const number = toNumber(value);
	const isInBounds = typeof number === 'number' && number >= min && number <= max;
	if (isInBounds && (!isWhole || Number.isSafeInteger(number))) return number;
	const bounds = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
	const allowed = `a ${isWhole ? 'whole ' : ''}number ${bounds}`;
	const hint = `Correct '${parameter.label}', or the expression in it.`;
	throw notAllowed(value, parameter, allowed, hint);
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** @throws {InputError} if the URL does not contain such a name */
function nameInAddress(
	address: string,
	parameter: ParameterLabel,
	addresses: readonly RegExp[],
): string {
	// The query may contain another URL: only a record's ID is read from it. After a # the path may
	// continue.
	const path = address
		.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
		.replace(/\?(?:[^#]*&)?(recordId=[^&#]+)[^#]*|\?[^#]*/g, (_, id) => (id ? `?${id}` : ''));
	for (const format of addresses) {
		const name = format.exec(path)?.[1];
		if (name) return decode(name).trim();
	}
	throw new InputError(`The address in '${parameter.label}' does not lead to one`, {
		field: parameter.label,
		hint: 'Addresses look like https://platform.example.com/apps/<application>/tables/<table>/data/<record>.',
	});
}

/**
 * A text, trimmed, or the name in a locator; '' if it is empty.
 *
 * @param value as n8n resolved it: a locator with its mode
 * @param addresses find the name in a pasted URL
 * @throws {InputError} if it is neither text nor a number
 */
export function requireText(
	value: unknown,
	parameter: ParameterLabel,
	addresses: readonly RegExp[] = [],
	isExact = false,
): string {
	if (isObject(value) && 'mode' in value) {
		const text = requireText(value.value, parameter, [], isExact && value.mode !== 'url');
		if (value.mode !== 'url' || text === '') return text;
		return nameInAddress(text, parameter, addresses);
	}
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return isExact && value.trim() !== '' ? value : value.trim();
	if (Number.isFinite(value)) return String(value);
	throw notText(value, parameter);
}

export const notText = (value: unknown, parameter: ParameterLabel) =>
	wrongValue(parameter, `must be text, not ${describeKind(value)}`, CORRECT);

/** The error for a required parameter that has no value. */
export const emptyValue = (parameter: ParameterLabel) =>
	wrongValue(
		parameter,
		'is empty',
		'Fill it in. If it is an expression, it returned nothing for this item.',
	);

/** Calls `read` and throws its input errors in other words. */
function reworded<T>(read: () => T, words: (error: InputError) => InputError): T {
	let failure: unknown;
	try {
		return read();
	} catch (error) {
		failure = error instanceof InputError ? words(error) : error;
	}
	throw failure;
}

/** Reads a parameter's value. @param read its errors say what is wrong with the value */
export const withLabel = <T>(parameter: ParameterLabel, read: () => T): T =>
	reworded(read, ({ message, hint }) => wrongValue(parameter, message, hint));

/** Reads what a parameter refers to. Its errors name the parameter as their field. */
export const withField = <T>({ label }: ParameterLabel, read: () => T): T =>
	reworded(read, ({ message, hint }) => new InputError(message, { field: label, hint }));

/** True for `={{ $json.id }}`, and for a list or an object with such a value in it. */
export function holdsExpression(raw: unknown): boolean {
	if (typeof raw === 'object' && raw !== null) return Object.values(raw).some(holdsExpression);
	return typeof raw === 'string' && raw.startsWith('=');
}
