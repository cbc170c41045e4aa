import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isFileField } from '../catalog/find.mts';
import type { FileStore } from '../store/fileStore.mts';
import type { Json, JsonObject, Table } from '../state/model.mts';

const loopback = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?\//;
const timeoutMs = 10_000;

/**
 * A URL in a file field is fetched by the service; contract.md, "Attachments". The sandbox reaches
 * loopback alone. What it cannot fetch stays a string, and writing it then says so.
 */
export async function withFetchedFiles(
	files: FileStore,
	table: Table,
	fields: JsonObject,
): Promise<JsonObject> {
	const urls = table.fields
		.filter((field) => isFileField(field) && Object.hasOwn(fields, field.name))
		.map(({ name }) => [name, fields[name]] as const)
		.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	if (urls.length === 0) return fields;
	const fetched = await Promise.all(
		urls.map(
			async ([name, url]): Promise<[string, Json]> => [
				name,
				loopback.test(url) ? ((await fetchFile(files, url).catch(() => undefined)) ?? url) : url,
			],
		),
	);
	return { ...fields, ...Object.fromEntries(fetched) };
}

async function fetchFile(files: FileStore, url: string): Promise<Json | undefined> {
	const signal = AbortSignal.timeout(timeoutMs);
	const response = await fetch(url, { redirect: 'error', signal });
	if (!response.ok || !response.body) return undefined;
	const intake = files.begin();
	const bytes = Readable.fromWeb(response.body as ReadableStream) as AsyncIterable<Buffer>;
	for await (const chunk of bytes) intake.pushBytes(Buffer.from(chunk));
	const filename = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '') || 'file';
	const type = response.headers.get('content-type')?.split(';')[0];
	return [{ filename, mimetype: type ?? 'application/octet-stream', filedata: files.end(intake) }];
}
