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

/** A file of a record: `a` has the name a.txt, and states a size of 3 bytes if no other is given. */
const file = (fileId: string, fileSize: number | null = 3) => ({
	...{ fileId, fileName: `${fileId}.txt`, mimetype: 'text/plain' },
	...(fileSize !== null && { fileSize }),
});

/** A response with a file of so many mebibytes. @param received counts them @param breaksOff whether it ends in an error */
const stream = (size: number, received: { mebibytes: number }, breaksOff: boolean) =>
	Readable.from(
		(function* () {
			for (let at = 0; at < size; at += 1) {
				received.mebibytes += 1;
				yield Buffer.alloc(MIB, 'x');
			}
			if (breaksOff) throw new Error('socket hang up');
		})(),
		{ objectMode: true, highWaterMark: 1 },
	);

interface Setup extends Given {
	/** The fields of the records. */
	records: IDataObject[];
	/** Settings of Download Files, and other options. */
	download?: IDataObject;
	options?: IDataObject;
	/** How many mebibytes the platform sends for a file; 3 bytes if not given. */
	sizes?: Record<string, number>;
	/** How many responses with such a file break off. */
	broken?: number;
}

async function getMany({ records, download = {}, options, sizes = {}, broken = 0, ...given }: Setup) {
	const received = { mebibytes: 0 };
	const data = records.map((fields, at) => ({ id: `r${at}`, fields }));
	const respond = (body: Readable): IN8nHttpFullResponse => ({ statusCode: 200, headers: {}, body });
	const run = await runNode('record: getAll', {
		serve: (request) => {
			const { pathname } = new URL(request.url);
			const [, id] = /\/files\/(.+)$/.exec(pathname) ?? [];
			if (id !== undefined && sizes[id] !== undefined) return respond(stream(sizes[id], received, broken-- > 0));
			if (id !== undefined) return respond(Readable.from([Buffer.from('abc')]));
			return /\/data(\/filter)?$/.test(pathname) ? pageResponse(request, data) : httpResponse(200, { data: TABLE });
		},
		...given,
		parameters: {
			...{ application: locator('sales'), table: locator('docs'), filterMode: 'none' },
			options: { downloadFiles: { files: { fileFields: ['papers'], ...download } }, ...options },
		},
	});
	const fetched = run.requests.filter((request) => request.includes('/files/'));
	const files = run.output.map(({ binary = {} }) => Object.keys(binary));
	return { ...run, fetched, files, received };
}

const CONTINUE = { node: { onError: 'continueRegularOutput' } } as const;

test.each<[what: string, names: string[], fields: IDataObject]>([
	['two files', ['data', 'data_1'], { papers: [file('a'), file('b')] }],
	['null for its files', [], { papers: null }],
	['an empty list of files', [], { papers: [] }],
	['no member for its files, because the field is empty', [], {}],
])('the item of a record with %s has the fields of the record and the files %j', async (_, names, fields) => {
	const { files, error, output } = await getMany({ records: [fields] });
	expect(error).toBeUndefined();
	expect(files).toEqual([names]);
	expect(output[0]!.json).toEqual({ id: 'r0', ...fields });
});

test('files whose stated sizes are just the maximum are downloaded, into the chosen output field', async () => {
	const papers = [file('a', MIB), file('b', 0)];
	const run = await getMany({ records: [{ papers }], download: { maxTotalSizeMiB: 1, outputField: 'paper' }, sizes: { a: 1, b: 0 } });
	expect(run.error).toBeUndefined();
	expect(run.files).toEqual([['paper', 'paper_1']]);
});

test('nothing is downloaded if the stated sizes are a byte more than the maximum', async () => {
	const papers = [file('a', MIB), file('b', 0), file('c', 1)];
	const { error, fetched } = await getMany({ records: [{ papers }], download: { maxTotalSizeMiB: 1 } });
	expect(error?.message).toContain("1.0 MiB in 3 files, more than the 1.0 MiB of 'Max Total Size (MiB)'");
	expect(fetched).toEqual([]);
});

test('files are downloaded in the order of the chosen fields, once even if a field is chosen twice', async () => {
	const records = [{ papers: [file('a')], photo: [file('b')] }];
	const { fetched } = await getMany({ records, download: { fileFields: 'photo, papers,photo' } });
	expect(fetched.map((request) => request.at(-1))).toEqual(['b', 'a']);
});

test.each([
	[{ papers: 'a.txt' }, "The field 'papers' holds no files"],
	[{ papers: [{ fileName: 'a.txt' }] }, "The files in 'papers' of record 'r0' can't be read"],
])(
	'a record with %j, which is no list of files, fails with the error "%s", and the other records keep their files',
	async (broken, message) => {
		const records = [broken, { papers: [file('b')] }];
		const { json, files, output } = await getMany({ records, ...CONTINUE });
		expect(json[0]).toMatchObject({ details: { id: 'r0', outcome: 'failed' } });
		expect(json[0]!.error).toContain(message);
		expect(files).toEqual([[], ['data']]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
		expect((await getMany({ records })).error?.message).toContain(message);
	},
);

const MORE = "This run would download more than the 2.0 MiB of 'Max Total Size (MiB)'";
const RAISE = "Read fewer records, or raise the maximum under 'Download Files' in the options.";
const WRONG = 'The platform reported a wrong size, or another file is at this address. Look at the record in the platform.';
test.each<[what: string, size: number | null, maximum: number, message: string, description: string]>([
	['too small a size is stopped there', 3, 250, 'The platform sends more than the expected 3 bytes', WRONG],
	['a size below zero is stopped at once', -5 * MIB, 250, 'The platform sends more than the expected -5242880 bytes', WRONG],
	['no size is stopped at the maximum', null, 2, MORE, RAISE],
])('the download of a file whose record states %s, and not tried again', async (_, size, maxTotalSizeMiB, message, description) => {
	const records = [{ papers: [file('a', size)] }];
	const { error, received, fetched, stored } = await getMany({ records, download: { maxTotalSizeMiB }, sizes: { a: 40 } });
	expect(error).toMatchObject({ message: `Record 'r0': 'a.txt' could not be downloaded: ${message}`, description });
	expect(fetched).toHaveLength(1);
	expect(received.mebibytes).toBeLessThan(20);
	expect(stored).toEqual([]);
});

test('a file without a stated size that is received twice, because the first response broke off, counts once', async () => {
	const records = [{ papers: [file('a', null)] }];
	const { error, received } = await getMany({ records, download: { maxTotalSizeMiB: 3 }, sizes: { a: 2 }, broken: 1 });
	expect(error).toBeUndefined();
	expect(received.mebibytes).toBe(4);
});

// Older versions of n8n don't hide the option from agents.
test.each(['hidden by n8n', 'shown by n8n'])(
	'an agent gets no files, and loads no fields for them, if Download Files is %s',
	async (by) => {
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
	},
);
