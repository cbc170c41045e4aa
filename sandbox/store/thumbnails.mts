import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { FileStore, StoredFile } from './fileStore.mts';

const edge = 200;

/** A small WebP of a picture, created once; undefined if its format is not supported. */
export async function thumbnailOf(files: FileStore, file: StoredFile): Promise<Buffer | undefined> {
	const path = `${files.path(file.hash)}.thumbnail`;
	const existing = await readFile(path).catch(() => undefined);
	if (existing) return existing;
	const size = { width: edge, height: edge, fit: 'inside', withoutEnlargement: true } as const;
	const made = await sharp(files.path(file.hash))
		.resize(size)
		.webp()
		.toBuffer()
		.catch(() => undefined);
	if (made) {
		// Another request must not read a half-written file.
		const part = `${path}.${randomUUID()}`;
		await writeFile(part, made);
		await rename(part, path);
	}
	return made;
}
