/**
 * What is checked and set right about a file before the first byte is sent.
 */
import type { FieldDefinition, TableDefinition } from '../api/types';
import { typeOf } from '../fields';
import { PICTURES } from '../fields/types/files';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';
import type { Upload } from './uploadStream';
import { MIB } from '../transport/streams';
import { nameList } from '../transport/text';

/** What turns the direction of text could show one name and mean another. */
const INVISIBLE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A file name that is safe to send and to store: without path, without control characters.
 * Unicode and length are kept.
 */
export function safeFileName(name: string): string {
	// Through UTF-8, because half of a surrogate pair has no bytes of its own.
	const whole = Buffer.from(name, 'utf8').toString('utf8');
	const last = whole.replace(INVISIBLE, '').split(/[/\\]/).at(-1) ?? '';
	const visible = last.trim();
	return /^\.*$/.test(visible) ? 'file' : visible;
}

/** A media type that can stand in a data URL. */
export function safeMimetype(type: string | undefined): string {
	const plain = type?.trim().toLowerCase() ?? '';
	if (/^[\w.+-]+\/[\w.+-]+(\s*;\s*[\w.+-]+=[\w.+-]+)*$/.test(plain)) return plain;
	const [first = ''] = plain.split(';');
	return /^[\w.+-]+\/[\w.+-]+$/.test(first.trim()) ? first.trim() : 'application/octet-stream';
}

const extensionOf = (name: string) => /[^.]\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

const bare = (mimetype: string) => mimetype.split(';')[0]!.trim().toLowerCase();

/** A picture's name with the ending that its type has, where it has none that fits. */
export function pictureName(name: string, mimetype: string): string {
	const type = bare(mimetype);
	if (getOwn(PICTURES, extensionOf(name))?.includes(type)) return name;
	const extension = Object.keys(PICTURES).find((key) => PICTURES[key]!.includes(type));
	const stem = Object.hasOwn(PICTURES, extensionOf(name))
		? name.slice(0, name.lastIndexOf('.'))
		: name;
	return extension === undefined ? name : `${stem}.${extension === 'jfif' ? 'jpg' : extension}`;
}

/** What a server says that does not know the type. */
const UNKNOWN_TYPES = new Set(['application/octet-stream', 'binary/octet-stream']);

/**
 * The field that files go into.
 *
 * @throws {InputError} where the table has none of that name, or it takes no files
 */
export function fileField(table: TableDefinition, name: string): FieldDefinition {
	const field = table.fields.find((entry) => entry.name === name);
	if (field && typeOf(field).holdsFiles) return field;
	const offered = table.fields
		.filter((entry) => typeOf(entry).holdsFiles)
		.map((entry) => entry.name);
	throw new InputError(
		field
			? `The field '${name}' holds no files: its type is ${field.type}`
			: `Table '${table.header}' has no field '${name}'`,
		{
			field: name,
			hint: offered.length
				? `Fields for files in this table: ${nameList(offered)}.`
				: 'This table has no field for files; add one in the platform.',
		},
	);
}

function guardPicture(field: FieldDefinition, upload: Upload): Upload {
	const { name, mimetype } = upload;
	const types = getOwn(PICTURES, extensionOf(name));
	const type = bare(mimetype);
	if (types?.includes(type)) return upload;
	if (types && UNKNOWN_TYPES.has(type)) return { ...upload, mimetype: types[0]! };
	const named = extensionOf(name) === '' ? pictureName(name, mimetype) : name;
	if (named !== name) return { ...upload, name: named };
	throw new InputError(
		types
			? `'${name}' says it is a picture, but its type is ${mimetype}`
			: `'${name}' is not a picture that the field '${field.name}' takes`,
		{
			field: field.name,
			hint: `Nothing was sent. Pictures are ${Object.keys(PICTURES).join(', ')}; other files go into a field of the type 'file'.`,
		},
	);
}

/**
 * Checks a file before the first byte is sent. A picture without a known type gets the one of its
 * name's ending, one without an ending gets the one of its type.
 *
 * @param field undefined where the token may not see the table's fields: then the platform judges
 * @param maxBytes 0 for no limit
 * @throws {InputError} that names the file
 */
export function guardUpload(
	field: FieldDefinition | undefined,
	upload: Upload,
	maxBytes: number,
): Upload {
	if (maxBytes > 0 && upload.bytes > maxBytes) {
		const [size, limit] = [upload.bytes, maxBytes].map((bytes) => (bytes / MIB).toFixed(1));
		throw new InputError(`'${upload.name}' has ${size} MiB, more than the limit of ${limit} MiB`, {
			field: field?.name,
			hint: { code: 'raiseMaximumSize' },
		});
	}
	return field?.type === 'picture' ? guardPicture(field, upload) : upload;
}
