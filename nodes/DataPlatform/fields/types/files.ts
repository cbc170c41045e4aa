/** `picture`, `file`. */
import type { JsonValue } from '../../api/types';
import { isObject } from '../../transport/json';
import { fromJsonText, isJson, isPlainObject, parseJsonCell, problem, showValue } from '../convert';
import { USUAL, type FieldType } from '../fieldType';

/** The pictures that a `picture` field accepts: file extensions and media types. */
export const PICTURES: Record<string, string[]> = {
	avif: ['image/avif'],
	bmp: ['image/bmp', 'image/x-ms-bmp'],
	heic: ['image/heic', 'image/heif'],
	ico: ['image/x-icon', 'image/vnd.microsoft.icon'],
	jfif: ['image/jpeg', 'image/jfif'],
	jpeg: ['image/jpeg'],
	jpg: ['image/jpeg'],
	png: ['image/png'],
	svg: ['image/svg+xml'],
	webp: ['image/webp'],
};

const isFiles = (value: unknown) => Array.isArray(value) && value.every(isPlainObject);

const list = (value: unknown): JsonValue[] => (Array.isArray(value) ? (value as JsonValue[]) : []);

/** Each added file has a stored one of its name: two files `a.pdf` need two. */
function holdsNames(stored: JsonValue[], added: JsonValue[]): boolean {
	const left = stored.map((file) => isObject(file) && file.fileName);
	return added.every((file) => {
		const at = left.indexOf(isObject(file) && (file.filename as string));
		if (at >= 0) left.splice(at, 1);
		return at >= 0;
	});
}

export const files: FieldType = {
	...USUAL,
	parse: parseJsonCell,
	convert: (raw) => {
		const value = fromJsonText(raw);
		const isChange =
			isPlainObject(value) &&
			(value.add !== undefined || value.remove !== undefined) &&
			isFiles(value.add ?? []) &&
			list(value.remove ?? []).every((id) => typeof id === 'string');
		const isFitting = typeof value === 'string' || isFiles(value) || isChange;
		if (isFitting && isJson(value)) return { value };
		return problem(
			`accepts a web address, a list of files, or {"add":[…],"remove":[…]}, not ${showValue(raw)}`,
		);
	},
	isOnlyRead: (value) =>
		Array.isArray(value) &&
		value.some((file) => isObject(file) && 'fileId' in file && !('filedata' in file)),
	/**
	 * Only two answers are certain: a file that was to be removed is still there, or no file has the
	 * name of an added one. Contents are not compared.
	 */
	equals: (stored, sent) => {
		if (!isObject(sent)) return undefined;
		const toRemove = new Set(list(sent.remove));
		const added = list(sent.add);
		const isLeft = list(stored).some(
			(file) => isObject(file) && toRemove.has(file.fileId as JsonValue),
		);
		if (isLeft || !holdsNames(list(stored), added)) return false;
		return toRemove.size + added.length === 0 || undefined;
	},
	// A list, or no value, replaces all files. Changes are not merged.
	merge: (_earlier, later) => (later === null || Array.isArray(later) ? later : undefined),
	// The contract does not say whether a file from a URL replaces the others.
	appends: (sent) => typeof sent === 'string' || (isObject(sent) && list(sent.add).length > 0),
	editor: { type: 'string', hint: 'web address' },
	comparison: 'presence',
};
