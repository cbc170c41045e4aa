/** The table that single and bulk operations write to, and the values that items put into it. */
import type { NewTable, StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { TABLE } from './constants.mts';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Fields = Record<string, unknown>;

/** The field to match on, which may be the import key. */
export const KEY = 'code';

/** A key in an item. */
export interface StoredKey {
	raw: Json;
	/** As the platform stores it. */
	stored: Json;
}

const forms = (stored: Json, ...raw: Json[]): StoredKey[] => raw.map((form) => ({ raw: form, stored }));

/** Keys by type, each in one or several spellings. */
export const KEYS = {
	// Text is compared exactly: these are different keys.
	text: [...['Ab', 'ab', ' Ab', 'Ab ', 'A  b', 'A b', 'É'].map((text) => forms(text, text)), forms('e\u0301', 'e\u0301')],
	number: [forms(7, 7, '7', '7.0', ' 7 '), forms(8, 8, '8e0', '+8'), forms(70, 70), forms(0, 0, '-0', '0.00')],
	decimal: [forms(0.1, 0.1, '0.10', '.1', '1e-1'), forms(1, 1, '1.0'), forms(-2.5, -2.5, '-2.50')],
	date: [
		forms('2026-10-25', '2026-10-25', '2026-10-25T00:00:00Z', '2026-10-25T00:00:00+01:00'),
		forms('2026-10-26', '2026-10-26', '2026-10-26 00:00'),
		forms('2026-10-24', '2026-10-24', '2026-10-24Z'),
	],
	datetime: [
		forms('2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00'),
		forms('2026-03-01T10:00:01.000Z', '2026-03-01T10:00:01.000Z', '2026-03-01 11:00:01+0100'),
		forms('2026-02-28T23:00:00.000Z', '2026-02-28T23:00:00Z', '2026-02-28T23:00Z'),
	],
} satisfies Record<string, StoredKey[][]>;

export type KeyType = keyof typeof KEYS;
export const KEY_TYPES = Object.keys(KEYS) as KeyType[];

export function storedKey(type: KeyType, identity: number, form: number): StoredKey {
	const identities: StoredKey[][] = KEYS[type];
	const choices = identities[identity % identities.length]!;
	return choices[form % choices.length]!;
}

/** A choice that the platform rejects; the node does not check choices. */
export const REFUSED_STATE = 'lost';

const choices = ['new', 'open'].map((value) => ({ value }));

export const tableOf = (keyType: KeyType, isKeyed: boolean): NewTable['table'] => ({
	internalName: TABLE,
	fields: [
		{ name: KEY, type: keyType, metadata: { importKey: isKeyed } },
		{ name: 'mark', type: 'text' },
		{ name: 'name', type: 'text' },
		{ name: 'count', type: 'number' },
		{ name: 'state', type: 'dropdown', metadata: { items: choices } },
		{ name: 'group', type: 'text' },
		{ name: 'owner', type: 'text' },
		{ name: 'note', type: 'text' },
		{ name: 'papers', type: 'file' },
		{ name: 'talk', type: 'chat' },
	],
});

export const textFile = (filename: string) => ({
	filename,
	mimetype: 'text/plain',
	filedata: `data:text/plain;base64,${Buffer.from(`content of ${filename}`).toString('base64')}`,
});

/** The fields that may have a rule. */
export const RULED = ['owner', 'note', 'count'] as const;
export type RuledField = (typeof RULED)[number];
export type FieldRule = 'always' | 'whenCreating' | 'ifEmpty';

/** Whether a value in a ruled field is empty for *Only If Empty*. */
export const isBlank = (value: unknown): boolean => value === undefined || (typeof value === 'string' && value.trim() === '');

/** The file that some records have before the run. */
export const OLD_FILE = 'there.txt';
/** The message that some records have before the run. */
export const OLD_MESSAGE = 'hello';

/** The names of the files in a version of a record. */
export const filesIn = (fields: Fields | null): string[] =>
	((fields?.papers ?? []) as Array<{ fileName: string }>).map(({ fileName }) => fileName);

/** The texts of the messages in a version of a record. */
export const messagesIn = (fields: Fields | null): string[] =>
	((fields?.talk as { messages?: Array<{ text: string }> } | undefined)?.messages ?? []).map(({ text }) => text);

export const keyOf = ({ fields }: Pick<StoredRecord, 'fields'>): string | undefined =>
	fields[KEY] === undefined ? undefined : JSON.stringify(fields[KEY]);
