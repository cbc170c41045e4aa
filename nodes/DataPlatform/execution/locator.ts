/**
 * What is picked in a resource locator, for a run of the node, a poll and the editor's lists alike.
 */
import { InputError } from '../transport/errors';
import { describeKind, isObject } from '../transport/json';

const NAME = '([^/?#]+)';
const ANY = '[^/?#]+';

/**
 * Where a name stands in a pasted address, such as `…/apps/<name>/tables/<name>/data/<id>`. The
 * longest form comes first: an application may itself be called `apps` or `tables`.
 */
const ADDRESSES: Readonly<Record<string, RegExp[]>> = {
	application: [`/apps/${NAME}/tables/${ANY}`, `/apps/${NAME}`].map((form) => new RegExp(form)),
	table: [`/apps/${ANY}/tables/${NAME}`, `/tables/${NAME}`].map((form) => new RegExp(form)),
	recordId: [
		`/apps/${ANY}/tables/${ANY}/data/${NAME}`,
		`/tables/${ANY}/data/${NAME}`,
		`/data/${NAME}/?(?:[?#]|$)`,
		`/data/${NAME}`,
	].map((form) => new RegExp(form)),
};

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** @throws {InputError} where the address holds no such name */
function nameInAddress(address: string, parameter: string, label: string): string {
	// Another address may stand in the query; behind a # the path may go on.
	const path = address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/\?[^#]*/g, '');
	for (const form of ADDRESSES[parameter] ?? []) {
		const name = form.exec(path)?.[1];
		if (name) return decode(name).trim();
	}
	throw new InputError(`The address in '${label}' does not lead to one`, {
		field: label,
		hint: 'Addresses look like https://platform.example.com/apps/<application>/tables/<table>/data/<record>.',
	});
}

/**
 * A parameter's text, trimmed, or the name that a locator holds; '' where it is empty.
 *
 * @param value as n8n resolved it, a locator with its mode
 * @param parameter its name, such as `table`
 * @param label what the editor calls it
 * @throws {InputError} where it is no text and no number
 */
export function parameterText(value: unknown, parameter: string, label: string): string {
	if (isObject(value) && '__rl' in value) {
		const text = parameterText(value.value, parameter, label);
		return value.mode === 'url' && text !== '' ? nameInAddress(text, parameter, label) : text;
	}
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return value.trim();
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw new InputError(`'${label}' must be text, not ${describeKind(value)}`, {
		field: label,
		hint: 'Correct the expression in it.',
	});
}

/** Whether a parameter as it stands in the workflow holds an expression anywhere. */
export const holdsExpression = (raw: unknown): boolean =>
	typeof raw === 'object' && raw !== null
		? Object.values(raw).some(holdsExpression)
		: typeof raw === 'string' && raw.startsWith('=');

/**
 * The application that is picked; undefined where the locator was left empty. An expression that
 * returns nothing is an error: without an application the request would go to another table of the
 * same name.
 *
 * @param value as n8n resolved it
 * @param raw as it stands in the workflow
 * @throws {InputError}
 */
export function pickedApplication(value: unknown, raw: unknown): string | undefined {
	const text = parameterText(value, 'application', 'Application');
	if (text !== '') return text;
	if (!holdsExpression(raw)) return undefined;
	throw new InputError("'Application' is empty: its expression returned nothing", {
		field: 'Application',
		hint: 'Correct the expression. To address the table only by its name, clear the parameter.',
	});
}
