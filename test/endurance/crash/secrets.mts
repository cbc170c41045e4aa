/** Whether a folder contains a secret, in plain text or in base64. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The secret's bytes, and its base64 at each possible offset in a longer text. */
function formsOf(secret: string): Buffer[] {
	const base64 = [0, 1, 2].map((before) => {
		const encoded = Buffer.from('-'.repeat(before) + secret).toString('base64');
		// Without the characters that depend on the text around it.
		return encoded.slice(before === 0 ? 0 : before + 1, -4);
	});
	return [secret, ...base64].map((form) => Buffer.from(form));
}

export const holds = (bytes: Buffer, secret: string): boolean => formsOf(secret).some((form) => bytes.includes(form));

/** The files in a folder that contain it. */
export async function filesWith(folder: string, secret: string): Promise<string[]> {
	const found: string[] = [];
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		if (holds(await readFile(path), secret)) found.push(path);
	}
	return found;
}
