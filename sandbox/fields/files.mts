import type { Field, Json, JsonObject } from '../state/model.mts';
import {
	requireArray,
	requireObject,
	requireOnly,
	quote,
	ValueError,
	type Codec,
	type ParseContext,
	type SerializeContext,
} from './codec.mts';

/** `picture`, `file`: a list of entries; the bytes are in the file store. */
export const files: Codec = {
	comparison: { as: 'text', each: true, path: '.fileName' },
	empty: [],
	parse(value, field, context) {
		if (Array.isArray(value)) {
			return limited(
				value.map((entry) => storeFile(entry, field, context)),
				field,
				context,
			);
		}
		if (typeof value === 'string') {
			throw new ValueError(
				`cannot be fetched from ${quote(value)} (the setting fileUrls says which addresses are allowed)`,
			);
		}
		const change = requireObject(value, 'a URL, an array of files or an object {add, remove}');
		requireOnly(change, ['add', 'remove']);
		const toRemove = requireArray(change.remove ?? [], 'an object with an array remove');
		const current = (context.current ?? []) as JsonObject[];
		const missing = toRemove.find((id) => !current.some((entry) => entry.fileId === id));
		if (missing !== undefined) throw new ValueError(`has no file ${quote(missing)} to remove`);
		const added = requireArray(change.add ?? [], 'an object with an array add');
		return limited(
			[
				...current.filter((entry) => !toRemove.includes(entry.fileId ?? null)),
				...added.map((entry) => storeFile(entry, field, context)),
			],
			field,
			context,
		);
	},
	serialize(value, field, context) {
		return (value as JsonObject[]).map((entry) => serializeFile(entry, field, context));
	},
};

/** Throws a ValueError if the field has more files than it may. */
function limited(files: JsonObject[], field: Field, context: ParseContext): JsonObject[] {
	const isSingle = field.type === 'picture' || field.metadata.oneFile === true;
	if (files.length < 2 || !isSingle || !context.limitsFiles()) return files;
	throw new ValueError(`holds one ${field.type}, not ${files.length}`);
}

function storeFile(entry: Json, field: Field, context: ParseContext): JsonObject {
	return context.storeFile(
		field,
		requireObject(entry, 'files of the form {filename, mimetype, filedata}'),
	);
}

function serializeFile(entry: JsonObject, field: Field, context: SerializeContext): JsonObject {
	const { fileId, fileName, fileSize, mimetype } = entry;
	const fileUrl = `${context.apiUrl}/files/${String(fileId)}`;
	const query = context.fileQuery();
	const sizes = context.fileSize();
	const picture = field.type === 'picture';
	return {
		fileId: fileId ?? null,
		fileName: fileName ?? null,
		...(sizes !== 'absent' && {
			fileSize: sizes === 'text' ? String(fileSize) : (fileSize ?? null),
		}),
		mimetype: mimetype ?? null,
		fileUrl: `${fileUrl}${query}`,
		...(picture ? { thumbnailUrl: `${fileUrl}/thumbnail${query}` } : {}),
	};
}
