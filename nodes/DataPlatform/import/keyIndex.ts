/**
 * Finds the first row of a key, for millions of keys in a few bytes each.
 */
import { createHash } from 'node:crypto';

import { WordTable } from '../api/idSet';

/** Remembers the first row of each key, by 96 bits of the key's SHA-256. */
export class KeyIndex {
	private readonly rows = new WordTable(true);

	/** The row that had the key before. If there is none, remembers this one. */
	firstRow(key: string, row: number): number | undefined {
		const digest = createHash('sha256').update(key).digest();
		const [first, second, third] = [0, 4, 8].map((at) => digest.readUInt32LE(at));
		return this.rows.add([first!, second!, third!, row]);
	}
}
