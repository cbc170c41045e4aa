/** Get Many's option Download Files, on a platform that states wrong sizes or none. */
import { Readable } from 'node:stream';
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { locator, runNode, type Given } from '../../fakeNode.cts';
import { httpResponse, pageResponse } from '../../stubPlatform.cts';

const MIB = 1024 * 1024;

const TABLE = {
	id: 't',
	internalNameApi: 'docs',
	header: 'Documents',
	items: [
		{ name: 'title', type: 'text' },
		{ name: 'papers', type: 'file' },
		{ name: 'photo', type: 'picture' },
	],
};

const file = (fileId: string, more: IDataObject = {}) => ({
	...{ fileId, fileName: `${fileId}.txt`, fileSize: 3, mimetype: 'text/plain' },
	...more,
});

/** Pieces of one mebibyte each. @param taken counts them @param breaks whether it ends in an error */
const stream = (pieces: number, taken: { count: number }, breaks: boolean): IN8nHttpFullResponse => ({
	statusCode: 200,
	headers: {},
	body: Readable.from(
		(function* () {
			for (let at = 0; at < pieces; at += 1) {
				taken.count += 1;
				yield Buffer.alloc(MIB, 'x');
			}
			if (breaks) throw new Error('socket hang up');
		})(),
		{ objectMode: true, highWaterMark: 1 },
	),
});

interface Setup extends Given {
	/** The fields of the records. */
	records: IDataObject[];
	files?: IDataObject & Given['files'];
	option?: IDataObject;
	options?: IDataObject;
	/** How many mebibytes a file has; 3 bytes if not given. */
	sizes?: Record<string, number>;
	/** How many responses with such a file break off. */
	broken?: number;
}

async function getMany({ records, option = {}, options, sizes = {}, broken = 0, ...given }: Setup) {
	const taken = { count: 0 };
	const data = records.map((fields, at) => ({ id: `r${at}`, fields }));
	const run = await runNode('record: getAll', {
		serve: (request) => {
			const { pathname } = new URL(request.url);
			const [, id] = /\/files\/(.+)$/.exec(pathname) ?? [];
			if (id !== undefined && sizes[id] !== undefined) return stream(sizes[id], taken, broken-- > 0);
			if (id !== undefined) {
				const body = Readable.from([Buffer.from('abc')]);
				return { statusCode: 200, headers: {}, body };
			}
			if (/\/data(\/filter)?$/.test(pathname)) return pageResponse(request, data);
			return httpResponse(200, { data: TABLE });
		},
		...given,
		parameters: {
			...{ application: locator('sales'), table: locator('docs'), filterMode: 'none' },
			options: { downloadFiles: { files: { fileFields: ['papers'], ...option } }, ...options },
		},
	});
	const fetched = run.requests.filter((request) => request.includes('/files/'));
	const files = run.output.map(({ binary = {} }) => Object.keys(binary));
	return { ...run, fetched, files, taken };
}

const CONTINUE = { node: { onError: 'continueRegularOutput' } } as const;

test.each<[string, IDataObject, string[]]>([
	['files', { papers: [file('a'), file('b')] }, ['data', 'data_1']],
	['no value', { papers: null }, []],
	['an empty list', { papers: [] }, []],
	['no such member, because it is empty', {}, []],
])('a record with %s', async (_, fields, names) => {
	const { files, error, output } = await getMany({ records: [fields] });
	expect(error).toBeUndefined();
	expect(files).toEqual([names]);
	expect(output[0]!.json).toEqual({ id: 'r0', ...fields });
});

test('the sizes that records state are checked before anything is downloaded', async () => {
	const option = { maxTotalSizeMiB: 1, outputField: 'paper' };
	const papers = [file('a', { fileSize: MIB }), file('b', { fileSize: 0 })];
	const whole = await getMany({ records: [{ papers }], option, sizes: { a: 1, b: 0 } });
	expect(whole.error).toBeUndefined();
	expect(whole.files).toEqual([['paper', 'paper_1']]);
	const more = await getMany({ records: [{ papers: [...papers, file('c', { fileSize: 1 })] }], option });
	expect(more.error?.message).toContain("1.0 MiB in 3 files, more than the 1.0 MiB of 'Max Total Size (MiB)'");
	expect(more.fetched).toEqual([]);
});

test('a field chosen twice counts once; fields keep their order', async () => {
	const records = [{ papers: [file('a')], photo: [file('b')] }];
	const { fetched } = await getMany({ records, option: { fileFields: 'photo, papers,photo' } });
	expect(fetched.map((request) => request.at(-1))).toEqual(['b', 'a']);
});

test.each([
	[{ papers: 'a.txt' }, "The field 'papers' holds no files"],
	[{ papers: [{ fileName: 'a.txt' }] }, "The files in 'papers' of record 'r0' can't be read"],
])('a value that is no list of files: %j', async (broken, message) => {
	const records = [broken, { papers: [file('b')] }];
	const { json, files, output } = await getMany({ records, ...CONTINUE });
	expect(json[0]).toMatchObject({ details: { id: 'r0', outcome: 'failed' } });
	expect(json[0]!.error).toContain(message);
	expect(files).toEqual([[], ['data']]);
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
	expect((await getMany({ records })).error?.message).toContain(message);
});

describe('a file whose record states', () => {
	test.each([
		['too small a size', 3],
		['a size below zero', -5 * MIB],
	])('%s: it is stopped there, and not tried again', async (_, fileSize) => {
		const records = [{ papers: [file('a', { fileSize })] }];
		const { error, taken, fetched, stored } = await getMany({ records, sizes: { a: 40 } });
		expect(error?.message).toBe(
			`Record 'r0': 'a.txt' could not be downloaded: The platform sends more than the expected ${fileSize} bytes`,
		);
		expect(fetched).toHaveLength(1);
		expect(taken.count).toBeLessThan(20);
		expect(stored).toEqual([]);
	});

	test('no size: it is stopped at the maximum, and not tried again', async () => {
		const records = [{ papers: [file('a', { fileSize: undefined })] }];
		const option = { maxTotalSizeMiB: 2 };
		const { error, taken, fetched, stored } = await getMany({ records, option, sizes: { a: 40 } });
		expect(error?.message).toBe(
			"Record 'r0': 'a.txt' could not be downloaded: This run would download more than the 2.0 MiB of 'Max Total Size (MiB)'",
		);
		expect(error?.description).toContain("'Download Files'");
		expect(fetched).toHaveLength(1);
		expect(taken.count).toBeLessThan(20);
		expect(stored).toEqual([]);
	});

	test('no size: what is received twice counts once', async () => {
		const records = [{ papers: [file('a', { fileSize: undefined })] }];
		const option = { maxTotalSizeMiB: 3 };
		const { error, taken } = await getMany({ records, option, sizes: { a: 2 }, broken: 1 });
		expect(error).toBeUndefined();
		expect(taken.count).toBe(4);
	});
});

// Older versions of n8n don't hide the option from agents.
test.each(['hidden by n8n', 'shown by n8n'])('an agent gets no files: the option is %s', async (by) => {
	const records = [{ papers: [file('a')], title: 'A' }];
	const options = { fieldsToLoad: ['title'] };
	const plain = {
		...{ resource: 'record', operation: 'getAll', table: 'docs', filterMode: 'none' },
		options: { ...options, downloadFiles: { files: { fileFields: ['papers'] } } },
	};
	const { output, fetched, sent } = await getMany({
		...{ records, options, node: { type: 'dataPlatformTool' } },
		...(by === 'shown by n8n' && { plain }),
	});
	expect(output).toHaveLength(1);
	expect(output[0]).not.toHaveProperty('binary');
	expect(fetched).toEqual([]);
	for (const { body } of sent) expect(body).toEqual({ loadFields: ['title'] });
});
