/**
 * Keys of records: the values of the import key, or of the fields to match on. Pure.
 */
import type { FieldDefinition, FieldValues, JsonValue } from '../api/types';
import type { KeyForm } from '../fields/fieldType';
import { keyForm } from '../fields/values';
import { getOwn } from '../transport/json';

/** A record's values in the fields that identify it. */
export interface RecordKey {
	/** Messages show it. Only equal keys have the same text. */
	text: string;
	/** One for each field, as the platform stores it. */
	parts: KeyForm[];
	/** Whether a key with another text is certainly another key. */
	isCertain: boolean;
}

/** A record's key; undefined if a field has no value, or one that can't be compared. */
export function recordKey(fields: FieldDefinition[], values: FieldValues): RecordKey | undefined {
	const parts: KeyForm[] = [];
	for (const field of fields) {
		const part = keyForm(field, getOwn<JsonValue>(values, field.name) ?? null);
		if (part === undefined) return undefined;
		parts.push(part);
	}
	if (parts.length === 0) return undefined;
	return {
		text:
			parts.length === 1
				? parts[0]!.text
				: parts.map(({ text }) => JSON.stringify(text)).join(', '),
		parts,
		isCertain: parts.every(({ isCertain }) => isCertain),
	};
}

/** Whether a stored record may have a key: all parts that can be compared are equal. */
export const mayHaveKey = (
	fields: FieldDefinition[],
	values: FieldValues,
	{ parts }: RecordKey,
): boolean =>
	fields.every((field, index) => {
		const stored = keyForm(field, getOwn<JsonValue>(values, field.name) ?? null);
		const wanted = parts[index]!;
		return !stored?.isCertain || !wanted.isCertain || stored.text === wanted.text;
	});
