/**
 * Turns the bytes of a file into text, in pieces: unpacked and decoded.
 */
import { InputError, ServiceError } from '../transport/errors';
import { LABELS } from '../labels';

/** The encodings that Node.js reads, by what people look for. */
export const ENCODINGS = {
	'windows-1256': 'Arabic (Windows-1256)',
	'windows-1257': 'Baltic (Windows-1257)',
	'iso-8859-2': 'Central European (ISO 8859-2)',
	'windows-1250': 'Central European (Windows-1250)',
	gb18030: 'Chinese Simplified (GB18030, GBK)',
	big5: 'Chinese Traditional (Big5)',
	'iso-8859-5': 'Cyrillic (ISO 8859-5)',
	'koi8-r': 'Cyrillic (KOI8-R)',
	ibm866: 'Cyrillic (OEM 866)',
	'windows-1251': 'Cyrillic (Windows-1251)',
	'iso-8859-7': 'Greek (ISO 8859-7)',
	'windows-1253': 'Greek (Windows-1253)',
	'windows-1255': 'Hebrew (Windows-1255)',
	'euc-jp': 'Japanese (EUC-JP)',
	shift_jis: 'Japanese (Shift JIS)',
	'euc-kr': 'Korean (EUC-KR)',
	'windows-874': 'Thai (Windows-874)',
	'windows-1254': 'Turkish (Windows-1254)',
	'utf-16be': 'UTF-16 BE',
	'utf-16le': 'UTF-16 LE',
	'utf-8': 'UTF-8',
	'windows-1258': 'Vietnamese (Windows-1258)',
	'iso-8859-15': 'Western European (ISO 8859-15)',
	macintosh: 'Western European (Macintosh)',
	'windows-1252': 'Western European (Windows-1252)',
} as const;

type KnownEncoding = keyof typeof ENCODINGS;

/** `auto`: the encoding of the byte order mark, or UTF-8 without one. */
export type Encoding = 'auto' | KnownEncoding;

/** How many bytes to decode at once, so that the rows of a piece fit into memory. */
const PIECE_BYTES = 64 * 1024;

const BYTE_ORDER_MARKS: Array<[encoding: KnownEncoding, mark: number[]]> = [
	['utf-8', [0xef, 0xbb, 0xbf]],
	['utf-16le', [0xff, 0xfe]],
	['utf-16be', [0xfe, 0xff]],
];

/** Files that users mistake for tables in text format. */
const OTHER_FILES: Array<[mark: number[], what: string]> = [
	[[0x50, 0x4b, 0x03, 0x04], 'a ZIP file or a workbook (.xlsx)'],
	[[0xd0, 0xcf, 0x11, 0xe0], 'an old workbook (.xls)'],
	[[0x25, 0x50, 0x44, 0x46], 'a PDF file'],
];

const GZIP = [0x1f, 0x8b];

const beginsWith = (bytes: Uint8Array | undefined, mark: number[]) =>
	mark.every((byte, index) => bytes?.[index] === byte);

/** Why a gzip file can't be unpacked. Returns other failures unchanged. */
function packedFailure(error: unknown): unknown {
	if (error instanceof InputError || error instanceof ServiceError) return error;
	const { message, cause } = error as Error;
	// Some versions of Node.js name the reason only in the cause.
	const reason = message || (cause as Error | undefined)?.message;
	return new InputError(`The gzip file is damaged, cut off, or several joined files: ${reason}`, {
		hint: 'Get the file again, or unpack it.',
	});
}

/**
 * The bytes of a gzip file.
 *
 * @throws {InputError} if it is damaged, after the bytes before the damage
 */
async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	const { readable, writable } = new DecompressionStream('gzip');
	const writer = writable.getWriter();
	const feed = async () => {
		try {
			for await (const chunk of source) await writer.write(Uint8Array.from(chunk));
			await writer.close();
		} catch (error) {
			await writer.abort(error).catch(() => undefined);
		}
	};
	const feeding = feed();
	try {
		yield* readable as unknown as AsyncIterable<Uint8Array>;
	} catch (error) {
		throw packedFailure(error);
	} finally {
		await feeding;
	}
}

/** The same bytes in pieces of `PIECE_BYTES`; the last piece may be shorter. */
async function* pieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let piece = new Uint8Array(PIECE_BYTES);
	let size = 0;
	for await (const chunk of source) {
		for (let at = 0; at < chunk.length; ) {
			const part = chunk.subarray(at, at + PIECE_BYTES - size);
			piece.set(part, size);
			at += part.length;
			size += part.length;
			if (size < PIECE_BYTES) continue;
			yield piece;
			piece = new Uint8Array(PIECE_BYTES);
			size = 0;
		}
	}
	if (size > 0) yield piece.subarray(0, size);
}

const wrongEncoding = (encoding: KnownEncoding) =>
	new InputError(`The file is not ${ENCODINGS[encoding]}`, {
		hint: `Letters may be damaged in one place: then correct the file. Only if all of it is in another encoding, choose that under '${LABELS.encoding}' in the options, such as ${ENCODINGS['windows-1252']}.`,
	});

/** @throws {InputError} if the bytes are not text, or another kind of file */
function encodingOf(head: Uint8Array | undefined, chosen: Encoding): KnownEncoding {
	const other = OTHER_FILES.find(([mark]) => beginsWith(head, mark));
	if (other) {
		throw new InputError(`The file is ${other[1]}, not a text file`, {
			hint: "Save it as CSV, or read it with the node 'Extract From File' and write its items.",
		});
	}
	// A byte order mark is more reliable than a setting that may be meant for other files.
	const marked = BYTE_ORDER_MARKS.find(([, mark]) => beginsWith(head, mark))?.[0];
	return marked ?? (chosen === 'auto' ? 'utf-8' : chosen);
}

/** The first piece of a file, if there is one, and all of its pieces. */
export async function peek<T>(source: AsyncGenerator<T>) {
	const first = await source.next();
	async function* all() {
		try {
			if (!first.done) yield first.value;
			yield* source;
		} finally {
			await source.return(undefined);
		}
	}
	return { head: first.done ? undefined : first.value, all: all() };
}

/**
 * The text of a file, in pieces: unpacked if it is a gzip file, and without its byte order mark.
 *
 * @param read returns the file's bytes, from the start on each call
 * @throws {InputError} if it is not text in the encoding, after the pieces before that place; if it
 * is a damaged gzip file, before any text
 */
export async function* decodeText(
	read: () => AsyncIterable<Uint8Array>,
	chosen: Encoding,
): AsyncGenerator<string> {
	let { head, all } = await peek(pieces(read()));
	if (beginsWith(head, GZIP)) {
		// The checksum comes last. Until it is verified, no byte is certain.
		const check = unpacked(all);
		while (!(await check.next()).done);
		({ head, all } = await peek(pieces(unpacked(read()))));
	}
	yield* decodePieces(all, encodingOf(head, chosen));
}

async function* decodePieces(
	source: AsyncIterable<Uint8Array>,
	encoding: KnownEncoding,
): AsyncGenerator<string> {
	const decoder = new TextDecoder(encoding, { fatal: true });
	const decode = (piece?: Uint8Array) => {
		try {
			// As a stream, also at the end: else some versions of Node.js take Windows-1252 for Latin-1.
			return decoder.decode(piece, { stream: piece !== undefined });
		} catch {
			throw wrongEncoding(encoding);
		}
	};
	for await (const piece of source) yield decode(piece);
	decode();
}
