import { createHash } from 'node:crypto';

/** A UUID derived from a name: sample data has the same ids at every start. */
export function uuidOf(name: string): string {
	const hex = createHash('sha256').update(`sandbox ${name}`).digest('hex');
	const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`5${hex.slice(13, 16)}`,
		`${variant}${hex.slice(17, 20)}`,
		hex.slice(20, 32),
	].join('-');
}
