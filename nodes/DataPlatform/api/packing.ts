/** IDs, numbers and hashes as short text of letters, digits, `-`, `_`, `*`, `~` and `.` only. */
import { createHash } from 'node:crypto';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** Precedes an ID that is not a UUID. */
const PLAIN = '*';

/** A UUID in 22 characters; any other ID gets longer. */
export const packId = (id: string): string =>
	UUID.test(id)
		? Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
		: PLAIN + Buffer.from(id, 'utf16le').toString('base64url');

export const unpackId = (text: string): string =>
	text.startsWith(PLAIN)
		? Buffer.from(text.slice(PLAIN.length), 'base64url').toString('utf16le')
		: Buffer.from(text, 'base64url').toString('hex').replace(UUID_PARTS, '$1-$2-$3-$4-$5');

const INTEGER = /^-?[\da-z]+$/;

/** An integer in base 36; any other number gets longer. */
export const packNumber = (value: number): string =>
	Number.isSafeInteger(value)
		? value.toString(36)
		: PLAIN + Buffer.from(String(value)).toString('base64url');

export const unpackNumber = (text: string): number =>
	INTEGER.test(text)
		? parseInt(text, 36)
		: Number(Buffer.from(text.slice(PLAIN.length), 'base64url').toString());

export const shortHash = (text: string, length: number): string =>
	createHash('sha256').update(text).digest('base64url').slice(0, length);

const UUID_BYTES = 16;

/** IDs as one sorted text: 21.4 characters for each UUID. */
export function packIds(ids: Iterable<string>): string {
	const sorted = [...ids].sort();
	const uuids = sorted.filter((id) => UUID.test(id));
	const others = sorted.filter((id) => !UUID.test(id));
	const bytes = Buffer.from(uuids.join('').replaceAll('-', ''), 'hex').toString('base64url');
	return [bytes, ...others.map(packId)].join('~');
}

export function unpackIds(text: string): string[] {
	const [packed, ...others] = text.split('~');
	const hex = Buffer.from(packed!, 'base64url').toString('hex');
	const uuids = hex.match(new RegExp(`.{${2 * UUID_BYTES}}`, 'g')) ?? [];
	return [
		...uuids.map((digits) => digits.replace(UUID_PARTS, '$1-$2-$3-$4-$5')),
		...others.map(unpackId),
	];
}
