/**
 * Checks and corrections of a file before the first byte is sent.
 *
 *     safeFileName('../a.pdf'); // 'a.pdf'
 *     guardUpload(field, upload, maxBytes); // fails if it is larger
 */
import type { FieldDefinition, TableDefinition } from '../api/types';
import { fieldType } from '../fields';
import { files, PICTURES } from '../fields/types/files';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { MIB, type ByteStream } from '../transport/streams';
import { nameList } from '../transport/messageText';
import { LABELS } from '../labels';

/** A file to send. */
export interface Upload {
	name: string;
	mimetype: string;
	/** Its size: the content must have exactly this many bytes. */
	bytes: number;
	/** The bytes, or a function that opens them, called for each attempt. */
	content: Uint8Array | (() => Promise<ByteStream>);
}

/**
 * Control characters, and those that change the direction of text: a name could look like another
 * one.
 */
const INVISIBLE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A file name that is safe to send and store: without a path and control characters. Keeps Unicode
 * and the length.
 */
export function safeFileName(name: string): string {
	// Encoded and decoded as UTF-8, to replace halves of surrogate pairs.
	const whole = Buffer.from(name, 'utf8').toString('utf8');
	const last = whole.replace(INVISIBLE, '').split(/[/\\]/).at(-1)!;
	const visible = last.trim();
	return /^\.*$/.test(visible) ? 'file' : visible;
}

const bare = (mimetype: string) => mimetype.split(';')[0]!.trim().toLowerCase();

/** A media type that is valid in a data URL. */
export function safeMimetype(type: string | undefined): string {
	// The registered name: the platform may know no other.
	const plain = (type?.trim().toLowerCase() ?? '').replace(
		/^image\/(jpg|pjpeg|jfif)\b/,
		'image/jpeg',
	);
	if (/^[\w.+-]+\/[\w.+-]+(\s*;\s*[\w.+-]+=[\w.+-]+)*$/.test(plain)) return plain;
	const first = bare(plain);
	return /^[\w.+-]+\/[\w.+-]+$/.test(first) ? first : 'application/octet-stream';
}

const extensionOf = (name: string) => (/[^.]\.([^.]+)$/.exec(name)?.[1] ?? '').toLowerCase();

/** A picture's name with the extension of its type, unless it already has a matching one. */
export function pictureName(name: string, mimetype: string): string {
	const type = bare(mimetype);
	const types = getOwn(PICTURES, extensionOf(name));
	const extension = Object.keys(PICTURES).find((key) => PICTURES[key]!.includes(type));
	if (extension === undefined || types?.includes(type)) return name;
	const stem = types ? name.slice(0, name.lastIndexOf('.')) : name;
	return `${stem}.${extension === 'jfif' ? 'jpg' : extension}`;
}

/** The types that a server sends if it does not know the real one. */
const UNKNOWN_TYPES = new Set(['application/octet-stream', 'binary/octet-stream']);

/**
 * The field that takes the files.
 *
 * @throws {InputError} if the table has no such field, or it takes no files
 */
export function fileField(table: TableDefinition, name: string): FieldDefinition {
	const field = table.fields.find((entry) => entry.name === name);
	const offered = table.fields.filter((entry) => fieldType(entry) === files);
	if (field && offered.includes(field)) return field;
	const names = nameList(offered.map((entry) => entry.name));
	const none = 'This table has no field for files; add one in the platform.';
	const hint = names ? `Fields for files in this table: ${names}.` : none;
	const wrong = (message: string) => new InputError(message, { field: name, hint });
	if (!field) throw wrong(`Table '${table.header}' has no field '${name}'`);
	throw wrong(`The field '${name}' holds no files: its type is ${field.type}`);
}

/** @throws {InputError} for a web page that is called `photo.png` */
function asPicture(field: FieldDefinition, upload: Upload): Upload {
	const { name, mimetype } = upload;
	if (extensionOf(name) === '') return { ...upload, name: pictureName(name, mimetype) };
	const types = getOwn(PICTURES, extensionOf(name));
	if (!types || types.includes(bare(mimetype))) return upload;
	if (UNKNOWN_TYPES.has(bare(mimetype))) return { ...upload, mimetype: types[0]! };
	throw new InputError(`'${name}' has the extension of a picture, but its type is ${mimetype}`, {
		field: field.name,
		hint: 'Nothing was sent. Check the node that created the file.',
	});
}

/**
 * Checks a file before the first byte is sent. A picture of unknown type gets the type of its
 * extension, and one without an extension gets that of its type. Whether the field takes it is the
 * platform's to say.
 *
 * @param field undefined if the token may not see the table's fields: then the platform decides
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
		const shown = size === limit ? `${upload.bytes} bytes` : `${size} MiB`;
		throw new InputError(`'${upload.name}' has ${shown}, more than the limit of ${limit} MiB`, {
			field: field?.name,
			hint: `Nothing was sent. Raise '${LABELS.maxFileSizeMiB}' in the options if this is intended.`,
		});
	}
	return field?.type === 'picture' ? asPicture(field, upload) : upload;
}
