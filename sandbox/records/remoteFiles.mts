import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isLoopbackUrl } from '../access/loopback.mts';
import type { ApiRequest } from '../api/request.mts';
import { isFileField } from '../catalog/find.mts';
import type { FileStore } from '../store/fileStore.mts';
import type { Json, JsonObject, Table } from '../state/model.mts';

const timeoutMs = 10_000;

/**
 * Fetches the URLs in file fields: the sandbox's own, and those of other loopback servers if the
 * settings say so. A URL that cannot be fetched stays a string, which the field's codec then
 * rejects.
 */
export async function fetchRemoteFiles(
	{ state, origin }: ApiRequest,
	table: Table,
	fields: JsonObject,
): Promise<JsonObject> {
	const urls = table.fields
		.filter((field) => isFileField(field) && Object.hasOwn(fields, field.name))
		.map(({ name }) => [name, fields[name]] as const)
		.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	if (urls.length === 0) return fields;
	const { files, settings } = state;
	const isAllowed = (url: string) =>
		url.startsWith(`${origin}/`) || (settings.fileUrls === 'loopback' && isLoopbackUrl(url));
	const fetched = await Promise.all(
		urls.map(
			async ([name, url]): Promise<[string, Json]> => [
				name,
				isAllowed(url) ? ((await fetchFile(files, url).catch(() => undefined)) ?? url) : url,
			],
		),
	);
	return { ...fields, ...Object.fromEntries(fetched) };
}

async function fetchFile(files: FileStore, url: string): Promise<Json | undefined> {
	const signal = AbortSignal.timeout(timeoutMs);
	const response = await fetch(url, { redirect: 'error', signal });
	if (!response.ok || !response.body) return undefined;
	const writer = files.openWriter();
	const bytes = Readable.fromWeb(response.body as ReadableStream) as AsyncIterable<Buffer>;
	for await (const chunk of bytes) writer.write(Buffer.from(chunk));
	const filename = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '') || 'file';
	const type = response.headers.get('content-type')?.split(';')[0];
	return [
		{ filename, mimetype: type ?? 'application/octet-stream', filedata: files.closeWriter(writer) },
	];
}
