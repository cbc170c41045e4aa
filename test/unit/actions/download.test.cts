/** Files that are downloaded into an item: the fields that get them, and their names. */
import type { IBinaryKeyData } from 'n8n-workflow';

import { downloadInto } from '../../../nodes/DataPlatform/actions/attachment/download.ts';
import { fakeRun } from '../fakeNode.cts';
import { httpResponse } from '../stubPlatform.cts';

const PNG = { 'content-type': 'image/png' };
const old = { data: '', mimeType: 'text/plain', fileName: 'old.txt' };

test.each<[string, { kind?: 'thumbnail'; existing?: IBinaryKeyData }, Record<string, string>]>([
	['the chosen name, then numbered ones', {}, { data: 'a.jpg', data_1: 'b', data_2: 'c' }],
	[
		'the files that it has, unless they have the chosen name',
		{ existing: { x: old, data: old } },
		{ x: 'old.txt', data: 'a.jpg', data_1: 'b', data_2: 'c' },
	],
	['numbers that it does not use yet', { existing: { data_1: old } }, { data: 'a.jpg', data_1: 'old.txt', data_2: 'b', data_3: 'c' }],
	['thumbnails with the extension of their type', { kind: 'thumbnail' }, { data: 'a.png', data_1: 'b.png', data_2: 'c.png' }],
])('an item gets %s', async (_, look, expected) => {
	const { run } = await fakeRun({}, { serve: () => httpResponse(200, 'abc', PNG) });
	const table = { client: run.client, at: { table: 'people' } };
	const files = ['a.jpg', '/b', 'c'].map((fileName) => ({ fileId: fileName, fileName, mimetype: 'image/jpeg' }));
	const binary = await downloadInto(run, table, files, { kind: 'file', outputName: 'data', ...look });
	expect(Object.fromEntries(Object.entries(binary).map(([name, { fileName }]) => [name, fileName]))).toEqual(expected);
});

test.each([
	['Text/HTML; Charset=UTF-8', 'text/html; charset=utf-8'],
	['image/png"><script>', 'application/octet-stream'],
	['', undefined],
])('the media type %j of a file becomes %j', async (mimetype, expected) => {
	const { run } = await fakeRun({}, { serve: () => httpResponse(200, 'abc', {}) });
	const table = { client: run.client, at: { table: 'people' } };
	const files = [{ fileId: 'a', fileName: 'a', mimetype }];
	const { data } = await downloadInto(run, table, files, { kind: 'file', outputName: 'data' });
	expect(data!.mimeType).toBe(expected);
});
