import type { Field, Json, JsonObject } from '../state/model.mts';
import {
	arrayOf,
	objectOf,
	onlyProperties,
	quote,
	ValueProblem,
	type Codec,
	type StoreContext,
} from './codec.mts';

/** `picture`, `file`: a list of entries; the bytes lie in the file store. */
export const files: Codec = {
	comparison: { as: 'text', each: true, path: '.fileName' },
	empty: [],
	store(value, field, context) {
		if (Array.isArray(value)) return value.map((entry) => kept(entry, field, context));
		if (typeof value === 'string') {
			throw new ValueProblem(`cannot be fetched from ${quote(value)} (loopback addresses alone)`);
		}
		const change = objectOf(value, 'a URL, an array of files or an object {add, remove}');
		onlyProperties(change, ['add', 'remove']);
		const doomed = arrayOf(change.remove ?? [], 'an object with an array remove');
		const present = (context.current ?? []) as JsonObject[];
		const missing = doomed.find((id) => !present.some((entry) => entry.fileId === id));
		if (missing !== undefined) throw new ValueProblem(`has no file ${quote(missing)} to remove`);
		const added = arrayOf(change.add ?? [], 'an object with an array add');
		return [
			...present.filter((entry) => !doomed.includes(entry.fileId ?? null)),
			...added.map((entry) => kept(entry, field, context)),
		];
	},
	show(value, field, context) {
		return (value as JsonObject[]).map((entry) => shown(entry, field, context.apiUrl));
	},
};

function kept(entry: Json, field: Field, context: StoreContext): JsonObject {
	return context.keepFile(
		field,
		objectOf(entry, 'files of the form {filename, mimetype, filedata}'),
	);
}

function shown(entry: JsonObject, field: Field, apiUrl: string): JsonObject {
	const { fileId, fileName, fileSize, mimetype } = entry;
	const fileUrl = `${apiUrl}/files/${String(fileId)}`;
	const picture = field.type === 'picture';
	return {
		fileId: fileId ?? null,
		fileName: fileName ?? null,
		fileSize: fileSize ?? null,
		mimetype: mimetype ?? null,
		fileUrl,
		...(picture ? { thumbnailUrl: `${fileUrl}/thumbnail` } : {}),
	};
}
