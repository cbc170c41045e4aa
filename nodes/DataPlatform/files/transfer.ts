/**
 * Files on records, of any size: sent and received as streams. Forms: contract/openapi.yaml,
 * `Attachment`.
 */
import type { IDataObject } from 'n8n-workflow';

import { toAttachments, toRecord } from '../api/decoders';
import { paths } from '../api/endpoints';
import type {
	Attachment,
	FieldValues,
	JsonValue,
	PlatformRecord,
	TableAddress,
} from '../api/types';
import { failureAsValue, ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { isLoopback, OriginError, safeUrl } from '../transport/allowedOrigins';
import {
	describeExisting,
	isDifferentRecord,
	readRecord,
	type RecordKey,
	type WriteOptions,
} from '../api/records';
import type { ApiClient } from '../transport/client';
import type { ByteStream } from '../transport/streams';
import { nameList, shortened } from '../transport/text';
import { streamBody, type Upload } from './uploadStream';

export interface UploadTarget {
	at: TableAddress;
	/** The picture or file field. */
	field: string;
	/** The record to change; a new one is created where it is not given. */
	id?: string;
	/** The record as it was; undefined for a new one, or where the token may not read it. */
	before?: PlatformRecord;
	/** Other fields to write in the same request. */
	fields: FieldValues;
	/** What becomes of the files that are there: all are kept, all go, or some go. */
	existing: 'keep' | 'remove' | { remove: string[] };
	/** A new record's import key, where it has one. */
	key?: RecordKey;
	/** Whether one of the other fields would get something a second time. */
	addsTwice?: boolean;
}

/** The files that are in a field of a record. */
export const filesOf = (record: PlatformRecord, field: string): Attachment[] =>
	toAttachments(getOwn(record.fields, field));

/**
 * Which files the field does not have yet by name and size, and which it has beside them. A file
 * in the field stands for one upload only: two of the same name and size need two.
 */
export function compareFiles(uploads: Upload[], existing: Attachment[]) {
	const others = [...existing];
	const missing = uploads.filter(({ name, bytes }) => {
		const at = others.findIndex((file) => file.fileName === name && file.fileSize === bytes);
		if (at >= 0) others.splice(at, 1);
		return at < 0;
	});
	return { missing, others };
}

function fieldValue({ id, existing }: UploadTarget, files: JsonValue[]): JsonValue {
	if (!id || existing === 'remove') return files;
	return existing === 'keep' ? { add: files } : { add: files, remove: existing.remove };
}

/**
 * Sends files into a field of a record, with other fields where given.
 *
 * Adding twice would double a file, so a try of unknown result is not repeated: the record is
 * read, and the files are either there or the error says that they are not there yet.
 *
 * @throws {ServiceError}
 */
export async function uploadFiles(
	client: ApiClient,
	target: UploadTarget,
	uploads: Upload[],
	{ skipAudit }: WriteOptions,
): Promise<PlatformRecord> {
	const { at, id } = target;
	const body = (files: JsonValue[]) =>
		({
			fields: { ...target.fields, [target.field]: fieldValue(target, files) },
			...(skipAudit && { skipAudit: true }),
		}) as IDataObject;
	const result = await client.tryRequest({
		method: id ? 'PATCH' : 'POST',
		path: id ? paths.record(at, id) : paths.records(at),
		stream: async () => await streamBody(body, uploads),
		retryMode:
			id && target.existing === 'remove' && !target.addsTwice ? 'idempotent' : 'notIdempotent',
		purpose: 'attachments',
	});
	if (!(result instanceof ServiceError)) {
		const record = changedRecord(result.body.data, id);
		// What the token may not read, the response need not show.
		if (record && (!target.before || Object.hasOwn(record.fields, target.field))) return record;
	} else if (result.previousAttempt) {
		// Rejected in the end, but an attempt before may have stored them.
		return await confirmUpload(client, target, uploads, result.message, result);
	} else if (result.status === 413) {
		throw new ServiceError(`${result.message} (${nameList(uploads.map(({ name }) => name))})`, {
			...result,
			hint: 'The platform takes no files of this size. Nothing was written.',
		});
	} else if (result.delivery === 'notApplied' && result.status === undefined) {
		throw new ServiceError(`Nothing was stored: ${result.message}`, result);
	} else if (result.delivery !== 'ambiguous') {
		throw result;
	}
	const why = result instanceof ServiceError ? result.message : 'The response contains no record';
	return await confirmUpload(client, target, uploads, why);
}

/** The record in the response to a change; undefined where it has none, or another one. */
function changedRecord(data: unknown, id: string | undefined): PlatformRecord | undefined {
	const record = toRecord(data);
	return record && id !== undefined && isDifferentRecord(record, id) ? undefined : record;
}

const unknown = (message: string) =>
	new ServiceError(message, {
		delivery: 'ambiguous',
		hint: { code: 'skipExistingFiles' },
	});

/**
 * Resolves an upload of unknown result by what the record holds now.
 *
 * @param rejection of a later attempt: the record does not hold the files because of it
 */
async function confirmUpload(
	client: ApiClient,
	{ at, field, id, before, key, fields }: UploadTarget,
	uploads: Upload[],
	why: string,
	rejection?: ServiceError,
): Promise<PlatformRecord> {
	if (!id) {
		const trace = key ? await describeExisting(client, at, key) : '';
		throw unknown(`Unknown whether the record was created: ${why}${trace}`);
	}
	const message = `Unknown whether the files were stored: ${why}`;
	if (!before) throw unknown(`${message}; the token may not read the record`);
	const record = await readRecord(client, at, id).catch(failureAsValue);
	if (record instanceof ServiceError) {
		throw unknown(`${message}; reading the record did not work: ${record.message}`);
	}
	const known = new Set(filesOf(before, field).map(({ fileId }) => fileId));
	const added = filesOf(record, field).filter(({ fileId }) => !known.has(fileId));
	const { missing } = compareFiles(uploads, added);
	if (missing.length === 0 && (uploads.length > 0 || Object.keys(fields).length === 0)) {
		return record;
	}
	if (rejection && !rejection.previousAttempt?.mayStillApply) throw rejection;
	const names = nameList(missing.map(({ name }) => name)) || 'the new values';
	// What is at work on it may be slower than the look at the record.
	throw unknown(`${message}; the record '${id}' does not have ${names} yet`);
}

/**
 * Where a file's bytes are; at another host than the platform's the token is not sent along. A
 * platform elsewhere has no business on this computer: what listens there may trust its callers.
 *
 * @throws {OriginError} where it is no address that anything is fetched from
 */
function source(client: ApiClient, url: string | undefined, path: () => string) {
	if (url === undefined || !URL.canParse(url)) return { path: path() };
	const address = safeUrl(url, 'The address of the file');
	if (address.origin === client.origin) {
		return { path: `${address.pathname}${address.search}` };
	}
	if (isLoopback(address.hostname) && !isLoopback(new URL(client.origin).hostname)) {
		throw new OriginError(
			`The platform says that the file is on this computer (${address.host}); it was not fetched`,
			'Look at the record in the platform.',
		);
	}
	return { to: { url: address.href, withToken: false } };
}

/** The failure of a download, with the file's name and the host where it is not the platform. */
function downloadFailure(error: ServiceError, what: string, elsewhere?: string): ServiceError {
	const host = elsewhere ? ` from ${new URL(elsewhere).host}, without the token` : '';
	return new ServiceError(`${what} could not be downloaded${host}: ${error.message}`, {
		...error,
		hint:
			error.status === 404
				? 'The record lists the file, but the platform does not have it: check the record.'
				: error.hint,
	});
}

/** What a gateway or a proxy may send in the platform's place. */
const NO_PICTURE = /^(text\/|application\/json)/i;

/**
 * Streams a file, or a picture's thumbnail, into a store. Tried again where it breaks off.
 *
 * @param store takes the bytes and what the platform says of their type; rejects where they
 * break off
 * @throws {ServiceError} that names the file
 */
export async function fetchFile(
	client: ApiClient,
	at: TableAddress,
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
		expectedBytes: isFile ? file.fileSize : 'some',
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

/** The record after a change that the platform confirmed without returning all that is needed of it. */
async function readAfter(client: ApiClient, at: TableAddress, id: string, known?: PlatformRecord) {
	return await readRecord(client, at, id).catch((error: ServiceError) => {
		if (known && error.status === 403) return known;
		const message = `The platform confirmed the change, but reading the record did not work: ${error.message}`;
		throw new ServiceError(message, { ...error, delivery: 'ambiguous' });
	});
}

/**
 * Takes files off a record.
 *
 * @returns the record afterwards
 * @throws {ServiceError}
 */
export async function removeFiles(
	client: ApiClient,
	at: TableAddress,
	id: string,
	field: string,
	fileIds: string[],
): Promise<PlatformRecord> {
	const result = await client.tryRequest({
		method: 'PATCH',
		path: paths.record(at, id),
		body: { fields: { [field]: { remove: fileIds } } },
		retryMode: 'idempotent',
		purpose: 'attachments',
		// A previous attempt took them off, so the platform no longer knows them.
		alreadyDoneStatus: 400,
	});
	if (result instanceof ServiceError) {
		const open = result.delivery === 'ambiguous' ? result : result.previousAttempt;
		if (!open) throw result;
		const now = await readRecord(client, at, id).catch(failureAsValue);
		if (!(now instanceof ServiceError)) {
			const isLeft = filesOf(now, field).some(({ fileId }) => fileIds.includes(fileId));
			if (!isLeft) return now;
			if (result !== open && !open.mayStillApply) throw result;
		}
		const found =
			now instanceof ServiceError
				? `reading the record did not work: ${now.message}`
				: 'the record still has them';
		throw new ServiceError(`Unknown whether the files were removed: ${result.message}; ${found}`, {
			delivery: 'ambiguous',
			status: result.status,
			hint: 'Look at the record in the platform before you run it again.',
		});
	}
	const { body, repeated } = result;
	const changed = changedRecord(body.data, id);
	const isShown = changed && Object.hasOwn(changed.fields, field);
	const record = isShown ? changed : await readAfter(client, at, id, changed);
	const left = filesOf(record, field).filter(({ fileId }) => fileIds.includes(fileId));
	if (left.length === 0) return record;
	throw new ServiceError(
		`The platform left ${nameList(left.map(({ fileName }) => fileName))} on the record`,
		{ delivery: repeated ? 'ambiguous' : 'rejected', hint: 'Look at the record in the platform.' },
	);
}
