/**
 * What identifies a record: the values of the import key, or of the fields to match on. Pure.
 */
import type { FieldDefinition, FieldValues, JsonValue } from '../api/types';
import type { KeyForm } from '../fields/fieldType';
import { keyForm } from '../fields/values';
import { getOwn } from '../transport/json';

/** A record's values in the fields that identify it. */
export interface RecordKey {
	/** The same for equal keys only; as it is shown in messages. */
	text: string;
	/** One for each field, as the platform stores it. */
	parts: KeyForm[];
	/** Whether keys with another text are other keys for certain. */
	isCertain: boolean;
}

/** A record's key; undefined where one of the fields has no value, or none that can be compared. */
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

/** Whether a stored record may have a key: each part that can be compared is the same. */
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
