/** What the user can do about a rejected record, by the field that the reason names. Pure. */
import type { FieldDefinition, FieldValues } from '../api/types';
import { fieldType } from '../fields';
import { texts } from '../fields/types/list';
import type { Hint } from '../transport/errors';
import type { WriteContext } from './evidence';
import type { ItemOutcome } from './outcome';

type RejectionContext = Pick<WriteContext, 'mode' | 'fields'>;

/** Statuses of responses that reject values. */
const REJECTS_VALUES = new Set([400, 409, 422]);

const QUOTES = ["'", '"', '`'];

const isNamed = (message: string, { name, header }: FieldDefinition) =>
	QUOTES.some((quote) =>
		[name, header].some((text) => message.includes(`${quote}${text}${quote}`)),
	);

/** The only text of a list, if it has commas: probably several entries, typed as one text. */
function unsplit(field: FieldDefinition, value: unknown): string | undefined {
	const [only, ...rest]: unknown[] = Array.isArray(value) ? value : [];
	const isText = fieldType(field) === texts && rest.length === 0 && typeof only === 'string';
	return isText && only.includes(',') ? only : undefined;
}

/** @param values what was sent; @param reason the platform's */
export function rejectionHint(
	values: FieldValues,
	reason: string,
	context: RejectionContext,
): Hint {
	const sent = Object.keys(values).flatMap((name) => context.fields.get(name) ?? []);
	const field = [...sent, ...context.fields.values()].find((each) => isNamed(reason, each));
	if (!field) return 'Check the item and run it again.';
	const { name, type, metadata } = field;
	if (type === 'schema_link') return { code: 'giveLinkedRecords', field: name };
	const text = unsplit(field, values[name]);
	if (text !== undefined) {
		const entries = text.split(',').map((entry) => entry.trim());
		return `'${name}' takes a list: give ${JSON.stringify(entries)} instead of one text.`;
	}
	if (metadata.importKey === true && context.mode === 'create') {
		return { code: 'correctKeyOrUpdate', field: name };
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
	const isRejected = status === undefined ? hint === undefined : REJECTS_VALUES.has(status);
	if (outcome !== 'failed' || notAttempted || !isRejected) return item;
	return { ...item, hint: rejectionHint(values, message, context) };
}
