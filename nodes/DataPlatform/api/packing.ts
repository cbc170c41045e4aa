/** Values as text: what a workflow or n8n keeps until the next run. */
import { createHash } from 'node:crypto';

export const shortHash = (text: string, length?: number): string =>
	createHash('sha256').update(text).digest('base64url').slice(0, length);

const CHECKSUM_LENGTH = 11;

/**
 * JSON after a checksum, which also depends on the format's version: `unseal` returns undefined for
 * text that was damaged or has another version.
 */
export const seal = (version: string, value: object): string =>
	sealed(version, JSON.stringify(value));

const sealed = (version: string, json: string) =>
	shortHash(`${version} ${json}`, CHECKSUM_LENGTH) + json;

export function unseal(version: string, stored: unknown): unknown {
	if (typeof stored !== 'string') return undefined;
	const json = stored.slice(CHECKSUM_LENGTH);
	return sealed(version, json) === stored ? JSON.parse(json) : undefined;
}

export const packJson = (value: object): string =>
	Buffer.from(JSON.stringify(value)).toString('base64url');

export const unpackJson = (text: string): unknown =>
	JSON.parse(Buffer.from(text, 'base64url').toString());

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const UUID_DIGITS = /(.{8})(.{4})(.{4})(.{4})(.{12})/g;

/** IDs as one sorted text: 21.4 characters for each UUID, any other ID gets longer. */
export function packIds(ids: Iterable<string>): string {
	const sorted = [...ids].sort();
	const digits = sorted
		.filter((id) => UUID.test(id))
		.join('')
		.replaceAll('-', '');
	const others = sorted.filter((id) => !UUID.test(id));
	return `${Buffer.from(digits, 'hex').toString('base64url')}~${packJson(others)}`;
}

export function unpackIds(text: string): string[] {
	const [packed, others] = text.split('~');
	const digits = Buffer.from(packed!, 'base64url').toString('hex');
	const uuids = Array.from(digits.matchAll(UUID_DIGITS), ([, ...parts]) => parts.join('-'));
	return [...uuids, ...(unpackJson(others!) as string[])];
}
