/**
 * `files/` sends files to records and fetches them, of any size, as streams. Formats:
 * contract/openapi.yaml, `Attachment`.
 *
 *     const uploads = [guardUpload(field, { name: 'a.pdf', mimetype, bytes, content }, maxBytes)];
 *     await uploadFiles({ table, id, field: 'papers', … }, uploads);
 */
import { toAttachments } from '../api/decoders';
import { paths } from '../api/endpoints';
import type { Attachment, FieldValues, JsonValue, PlatformRecord, TableAt } from '../api/types';
import { PICTURES } from '../fields/types/files';
import { InputError, isForbidden, ServiceError } from '../transport/errors';
import { toErrorEntries } from '../transport/errorEntries';
import { getOwn } from '../transport/json';
import { nearness, safeUrl } from '../transport/allowedOrigins';
import { withoutFileToken } from '../transport/tokens';
import { readRecord, writeBody, writtenRecord } from '../api/records';
import { resolveByLookUp } from '../api/resolve';
import type { ApiClient } from '../transport/client';
import type { ByteStream } from '../transport/streams';
import { nameList, shortened } from '../transport/messageText';
import { streamBody } from './uploadStream';
import type { Upload } from './uploadValidation';
import { LABELS } from '../labels';

export interface UploadTarget {
	table: TableAt;
	/** The picture or file field. */
	field: string;
	/** The record to change; if not set, a new one is created. */
	id?: string;
	/** The record before the upload; undefined if it is new, or the token may not read it. */
	before?: PlatformRecord;
	/** Other fields to write in the same request. */
	fields: FieldValues;
	/** Keep all existing files, remove all, or remove some. */
	existing: 'keep' | 'remove' | { remove: string[] };
	/** Sent twice, one of the other fields would have something appended twice, such as a message. */
	addsTwice?: boolean;
}

/** The files in a field of a record. */
export const filesOf = (record: PlatformRecord, field: string): Attachment[] =>
	toAttachments(getOwn(record.fields, field));

/**
 * The files in a field of a record.
 *
 * @throws {InputError} if the field holds no files
 */
export function filesIn(record: PlatformRecord, field: string): Attachment[] {
	const value = getOwn(record.fields, field);
	const files = filesOf(record, field);
	if (value === null || (Array.isArray(value) && files.length === value.length)) return files;
	if (Array.isArray(value)) {
		throw new ServiceError(`The files in '${field}' of record '${record.id}' can't be read`, {
			delivery: 'notApplied',
			hint: 'The platform returned files without their IDs.',
		});
	}
	const wrong = (message: string) =>
		new InputError(message, { field, hint: 'Choose a picture or file field of the table.' });
	if (value === undefined) throw wrong(`Record '${record.id}' has no field '${field}'`);
	throw wrong(`The field '${field}' holds no files`);
}

/**
 * The uploads that the field does not have yet, by name and size, and its other files. A file in
 * the field accounts for one upload only: two with the same name and size need two. One without a
 * size accounts for any of its name.
 */
export function compareFiles(uploads: Upload[], existing: Attachment[]) {
	const others = [...existing];
	let isByName = false;
	const missing = uploads.filter(({ name, bytes }) => {
		const at = others.findIndex(
			({ fileName, fileSize = bytes }) => fileName === name && fileSize === bytes,
		);
		if (at < 0) return true;
		const [same] = others.splice(at, 1);
		isByName ||= same!.fileSize === undefined;
		return false;
	});
	return { missing, others, isByName };
}

function fieldValue({ id, existing }: UploadTarget, files: JsonValue[]): JsonValue {
	if (!id || existing === 'remove') return files;
	if (existing === 'keep') return { add: files };
	return { add: files, remove: existing.remove };
}

/**
 * Uploads files into a field of a record, with other fields if any are set. What adds files is sent
 * once: if its result is unknown, the record is read, and it fails if the files are not there yet.
 *
 * @throws {ServiceError}
 */
export async function uploadFiles(
	target: UploadTarget,
	uploads: Upload[],
): Promise<PlatformRecord> {
	const { table, id, field } = target;
	const { client, at } = table;
	requireHope(target, uploads);
	const body = (files: JsonValue[]) =>
		writeBody(client, { ...target.fields, [field]: fieldValue(target, files) });
	const result = await client.tryRequest({
		method: id ? 'PATCH' : 'POST',
		path: id ? paths.record(at, id) : paths.records(at),
		stream: async () => streamBody(body, uploads),
		retryMode:
			id && target.existing === 'remove' && !target.addsTwice ? 'idempotent' : 'notIdempotent',
		purpose: 'attachments',
	});
	if (result instanceof ServiceError) {
		// Other fields may be the cause.
		const hasOthers = Object.keys(target.fields).length > 0;
		if (result.delivery === 'rejected' && isAboutAll(result) && !hasOthers) {
			noteRejected(target, uploads, result);
		}
		return await confirmUpload(target, uploads, uploadFailure(result));
	}
	rejectedUploads(client).clear();
	const record = writtenRecord(result.body.data, id);
	const isShown = record !== undefined && Object.hasOwn(record.fields, field);
	const count = isShown ? filesOf(record, field).length : uploads.length;
	if (record && count < uploads.length) {
		const message = `The record '${record.id}' has ${count} of the ${uploads.length} files`;
		throw new ServiceError(message, { delivery: 'ambiguous', hint: UPLOAD_AGAIN });
	}
	// If the token may not read the field, the response need not show it.
	if (record && (!target.before || isShown)) return record;
	const why = new ServiceError('The response contains no record', { delivery: 'ambiguous' });
	return await confirmUpload(target, uploads, why);
}

/** Not checked before: a platform may take more files, larger ones and other pictures. */
const REFUSED = `Nothing was written. If it is about a file: a picture field holds one picture, a file has at most 50 MB, and pictures are ${Object.keys(PICTURES).join(', ')}. If the storage is full, make room first.`;

interface Rejected {
	failure: ServiceError;
	count: number;
	bytes: number;
}

/** By run, field and type of file: rejections in the same words, with no upload accepted in between. */
const rejectedUploads = (client: ApiClient) =>
	client.remember('rejected uploads', () => new Map<string, Rejected>());

/** About the plan or the storage, as far as the platform tells: another 400 may be about one record. */
const isAboutAll = ({ status = 0, body }: ServiceError) =>
	[402, 403, 413, 507].includes(status) ||
	(status === 400 && toErrorEntries(body?.errors)[0]?.type === 'exception');

/** After so many, files that are not smaller are not sent: they would get the same. */
const ENOUGH_REJECTED = 10;

const kindOf = ({ table, field }: UploadTarget, uploads: Upload[]) =>
	JSON.stringify([table.at, field, ...uploads.map(({ mimetype }) => mimetype)]);

const sizeOf = (uploads: Upload[]) => uploads.reduce((sum, { bytes }) => sum + bytes, 0);

function noteRejected(target: UploadTarget, uploads: Upload[], failure: ServiceError) {
	const kinds = rejectedUploads(target.table.client);
	const last = kinds.get(kindOf(target, uploads));
	const same = last?.failure.message === failure.message ? last : { count: 0, bytes: Infinity };
	const bytes = Math.min(same.bytes, sizeOf(uploads));
	kinds.set(kindOf(target, uploads), { failure, count: same.count + 1, bytes });
}

/** @throws {ServiceError} if the files would be rejected, as those before */
function requireHope(target: UploadTarget, uploads: Upload[]) {
	const last = rejectedUploads(target.table.client).get(kindOf(target, uploads));
	const isRoomMade = target.id !== undefined && target.existing !== 'keep';
	if (!last || last.count < ENOUGH_REJECTED || sizeOf(uploads) < last.bytes || isRoomMade) return;
	const { failure, count } = last;
	const text = `Not sent: ${failure.message}; ${count} uploads in a row were rejected with these words`;
	throw new ServiceError(text, failure);
}

/** A failed upload in words of its own. */
function uploadFailure(failure: ServiceError): ServiceError {
	const { delivery, status = 0 } = failure;
	if (delivery === 'rejected' && [400, 413, 507].includes(status)) {
		return new ServiceError(failure.message, { ...failure, hint: REFUSED });
	}
	if (delivery !== 'notApplied' || status > 0) return failure;
	return new ServiceError(`Nothing was stored: ${failure.message}`, failure);
}

const UPLOAD_AGAIN = `Look at the record before you run it again; with '${LABELS.skipExisting}' on, files that are already there are not sent again.`;

/** Resolves an upload by what the record holds now. */
async function confirmUpload(
	{ table, field, id, before, fields }: UploadTarget,
	uploads: Upload[],
	failure: ServiceError,
): Promise<PlatformRecord> {
	if (failure.delivery !== 'ambiguous') throw failure;
	const unknown = (message: string, hint = UPLOAD_AGAIN) =>
		new ServiceError(message, { delivery: 'ambiguous', hint });
	if (!id) {
		const hint = 'Look for it in the table before you run it again.';
		throw unknown(`Unknown whether the record was created: ${failure.message}`, hint);
	}
	const what = 'the files were stored';
	if (!before) {
		throw unknown(`Unknown whether ${what}: ${failure.message}; the token may not read the record`);
	}
	const known = new Set(filesOf(before, field).map(({ fileId }) => fileId));
	let names = '';
	return await resolveByLookUp(failure, {
		what,
		lookUp: async () => {
			const record = await readRecord(table, id);
			const added = filesOf(record, field).filter(({ fileId }) => !known.has(fileId));
			const { missing } = compareFiles(uploads, added);
			names = nameList(missing.map(({ name }) => name)) || 'the new values';
			const isDone = uploads.length > 0 || Object.keys(fields).length === 0;
			return missing.length === 0 && isDone ? record : undefined;
		},
		// The platform may still be storing the files.
		unless: () => `the record '${id}' does not have ${names} yet`,
		hint: UPLOAD_AGAIN,
	});
}

/**
 * Where to fetch a file from. The token is not sent to another host than the platform's. If the
 * platform is not on this computer, neither are its files: a local service might trust requests
 * from here.
 *
 * @throws {InputError} if nothing may be fetched from the URL
 */
function source(client: ApiClient, url: string | undefined, path: () => string) {
	if (url === undefined || !URL.canParse(url)) return { path: path() };
	const address = safeUrl(url, 'The address of the file');
	if (address.origin === client.origin) {
		// The header has the token.
		return { path: withoutFileToken(`${address.pathname}${address.search}`) };
	}
	const near = nearness(address);
	if (near > nearness(new URL(client.origin))) {
		throw new InputError(
			`The platform says that the file is ${near > 1 ? 'on this computer' : 'in the private network'} (${address.host}), so it was not downloaded`,
			{ hint: 'Look at the record in the platform.' },
		);
	}
	return { to: { url: address.href, withToken: false } };
}

/** The failure of a download, with the file's name, and the host if it is not the platform's. */
function downloadFailure(error: ServiceError, what: string, elsewhere?: string): ServiceError {
	const host = elsewhere ? ` from ${new URL(elsewhere).host}, without the token` : '';
	const message = `${what} could not be downloaded${host}: ${error.message}`;
	if (error.status !== 404) return new ServiceError(message, { ...error });
	return new ServiceError(message, {
		...error,
		hint: 'The record listed the file, but the platform does not have it: it may have been removed since. Check the record.',
	});
}

/** Media types that a gateway or a proxy may send instead of the picture. */
const NO_PICTURE = /^(text\/|application\/json)/i;

/**
 * Streams a file, or a picture's thumbnail, into a store. Retries if the stream is interrupted.
 *
 * @param store takes the bytes and their media type; rejects if the bytes break off
 * @throws {ServiceError} that names the file
 */
export async function fetchFile(
	{ client, at }: TableAt,
	file: Attachment,
	kind: 'file' | 'thumbnail',
	store: (bytes: ByteStream, mimetype: string | undefined) => Promise<void>,
): Promise<void> {
	const isFile = kind === 'file';
	const url = isFile ? file.fileUrl : file.thumbnailUrl;
	const path = () => (isFile ? paths.file(at, file.fileId) : paths.thumbnail(at, file.fileId));
	const from = source(client, url, path);
	const result = await client.tryRequest({
		method: 'GET',
		...from,
		retryMode: 'read',
		purpose: 'attachments',
		// The platform does not report the size of a thumbnail.
		expectedBytes: isFile ? file.fileSize : undefined,
		receive: async (bytes, headers) => {
			const type = headers['content-type'];
			const mediaType = typeof type === 'string' ? type : undefined;
			if (!isFile && mediaType && NO_PICTURE.test(mediaType)) {
				throw new ServiceError(`The response is not a picture but ${shortened(mediaType, 100)}`, {
					delivery: 'ambiguous',
				});
			}
			await store(bytes, (isFile && file.mimetype) || mediaType);
		},
	});
	if (!(result instanceof ServiceError)) return;
	const what = `${isFile ? '' : 'The thumbnail of '}${nameList([file.fileName])}`;
	throw downloadFailure(result, what, from.to?.url);
}

/** Reads the record after a confirmed change whose response lacks something that is needed. */
async function readAfter(table: TableAt, id: string, known?: PlatformRecord) {
	return await readRecord(table, id).catch((error: ServiceError) => {
		if (known && isForbidden(error)) return known;
		const message = `The platform confirmed the change, but reading the record failed: ${error.message}`;
		// Even if the record is gone now, the change itself was not refused.
		throw new ServiceError(message, { ...error, delivery: 'ambiguous', outcome: 'unknown' });
	});
}

/**
 * Removes files from a record.
 *
 * @returns the record afterwards
 * @throws {ServiceError}
 */
export async function removeFiles(
	table: TableAt,
	id: string,
	field: string,
	fileIds: string[],
): Promise<PlatformRecord> {
	const result = await table.client.tryRequest({
		method: 'PATCH',
		path: paths.record(table.at, id),
		body: { fields: { [field]: { remove: fileIds } } },
		retryMode: 'idempotent',
		purpose: 'attachments',
	});
	const filesLeft = (record: PlatformRecord) =>
		filesOf(record, field).filter(({ fileId }) => fileIds.includes(fileId));
	if (result instanceof ServiceError) {
		return await resolveByLookUp(result, {
			what: 'the files were removed',
			lookUp: async () => {
				const record = await readRecord(table, id);
				return filesLeft(record).length === 0 ? record : undefined;
			},
			unless: () => 'the record still has them',
			hint: 'Look at the record in the platform before you run it again.',
		});
	}
	const changed = writtenRecord(result.body.data, id);
	const isShown = changed && Object.hasOwn(changed.fields, field);
	const record = isShown ? changed : await readAfter(table, id, changed);
	const left = filesLeft(record);
	if (left.length === 0) return record;
	throw new ServiceError(
		`The platform did not remove ${nameList(left.map(({ fileName }) => fileName))} from the record`,
		{
			delivery: result.previousAttempt ? 'ambiguous' : 'rejected',
			hint: 'Look at the record in the platform.',
		},
	);
}
