/** What the user can do about a rejected record, by the field that the reason names. Pure. */
import type { FieldDefinition, FieldValues } from '../../api/types';
import { fieldType } from '../../fields';
import { texts } from '../../fields/types/text';
import { CORRECT_REQUEST } from '../../transport/response';
import { NAMES_NO_FIELD } from '../outcome';
import type { WriteContext } from '../resolve/compare';
import type { ItemOutcome } from '../terms';

type RejectionContext = Pick<WriteContext, 'mode' | 'fields'>;

/** Statuses of responses that reject values. */
const REJECTS_VALUES = new Set([400, 409, 422]);

const QUOTES = ["'", '"', '`'];

/** Finds fields that a message names in quotes. The message is taken apart once, for all fields. */
function namedIn(message: string, fields: Iterable<FieldDefinition>): FieldDefinition[] {
	const quoted = new Set(QUOTES.flatMap((quote) => message.split(quote).slice(1, -1)));
	return [...fields].filter(({ name, header }) => quoted.has(name) || quoted.has(header));
}

/** The entries of a list that were probably typed as one text; one if not. */
function unsplit(field: FieldDefinition, value: unknown): string[] {
	const [only, ...rest]: unknown[] = Array.isArray(value) ? value : [];
	const isText = fieldType(field) === texts && rest.length === 0 && typeof only === 'string';
	const entries = isText ? only.split(only.includes(';') ? ';' : ',') : [];
	return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

/** @param values what was sent; @param reason the platform's */
export function rejectionHint(
	values: FieldValues,
	reason: string,
	context: RejectionContext,
): string {
	const named = namedIn(reason, context.fields.values());
	const field = named.find(({ name }) => Object.hasOwn(values, name)) ?? named[0];
	if (!field) return NAMES_NO_FIELD;
	const { name, metadata } = field;
	const entries = unsplit(field, values[name]);
	if (entries.length > 1) {
		return `'${name}' accepts a list: give ${JSON.stringify(entries)} instead of one text.`;
	}
	if (metadata.importKey === true && context.mode === 'create') {
		return `Correct the value of '${name}'. If a record already has it, use 'Create or Update' to update that record.`;
	}
	return `Correct the value of '${name}'.`;
}

/** Adds to a rejected item what the user can do about it. */
export function withNextStep(
	item: ItemOutcome,
	values: FieldValues,
	context: RejectionContext,
): ItemOutcome {
	const { outcome, notAttempted, hint, status, message = '' } = item;
	// A status that the platform itself does not explain is about no item: it has another hint.
	const isExplained = hint === undefined || hint === CORRECT_REQUEST;
	const isRejected = isExplained && (status === undefined || REJECTS_VALUES.has(status));
	if (outcome !== 'failed' || notAttempted || !isRejected) return item;
	return { ...item, hint: rejectionHint(values, message, context) };
}
