/** Files in n8n's store: written piece by piece, opened, and named after their fields. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IBinaryKeyData } from 'n8n-workflow';

import { fileNameOf, GrowingFile, openFile } from '../../../nodes/DataPlatform/input/binaryStore.ts';
import { binaryFields, inputDataFieldName } from '../../../nodes/DataPlatform/parameters/files/uploads.ts';
import { fakeRun, type Given } from '../fakeNode.cts';

const MIB = 1024 * 1024;

/** Whether a promise is settled, after everything that can run has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	const settle = () => (settled = true);
	promise.then(settle, settle);
	await new Promise((resolve) => setTimeout(resolve, 5));
	return settled;
}

async function growing(given: Given = {}) {
	const { run, seen } = await fakeRun({}, given);
	return { file: new GrowingFile(run, 'rows.csv', 'text/csv'), seen };
}

/**
 * Writes until the file makes its writer wait. A stream buffers slightly more than the store
 * itself.
 */
async function fill(file: GrowingFile) {
	for (let count = 1; count <= 40; count += 1) {
		const waiting = file.write('b'.repeat(MIB));
		if (!(await isSettled(waiting))) return { waiting, count };
	}
	throw new Error('It never waits');
}

/** A store that takes nothing until it is opened. */
function gate() {
	let open: () => void = () => undefined;
	const opened = new Promise<void>((resolve) => (open = resolve));
	return { open, opened };
}

describe('a file that grows', () => {
	test('is stored as it was written', async () => {
		const { file, seen } = await growing();
		await file.write('a\n');
		await file.write('ä\n');
		expect(await file.end()).toMatchObject({ id: 'stored-1', fileName: 'rows.csv' });
		expect(seen.stored).toEqual([{ name: 'rows.csv', mimetype: 'text/csv', text: 'a\nä\n' }]);
	});

	test('is not stored if nothing was written', async () => {
		const { file, seen } = await growing();
		expect(await file.end()).toBeUndefined();
		expect(seen.stored).toEqual([]);
	});

	test('goes to the store while it is produced', async () => {
		const received: string[] = [];
		const { file } = await growing({ receive: (piece) => void received.push(Buffer.from(piece).toString()) });
		await file.write('a');
		await isSettled(new Promise(() => undefined));
		expect(received).toEqual(['a']);
		await file.write('b');
		await isSettled(new Promise(() => undefined));
		expect(received).toEqual(['a', 'b']);
		await file.end();
	});

	test('waits for the store while more than a MiB waits for it', async () => {
		const { open, opened } = gate();
		const { file, seen } = await growing({ receive: async () => await opened });
		await file.write('a');
		await isSettled(new Promise(() => undefined));
		const { waiting, count } = await fill(file);
		open();
		await waiting;
		await file.end();
		expect(seen.stored[0]!.text).toHaveLength(count * MIB + 1);
	});

	test('that the store rejects is an error in the end, and keeps nobody waiting', async () => {
		const { open, opened } = gate();
		const { file } = await growing({
			receive: async () => {
				await opened;
				throw new Error('disk full');
			},
		});
		await file.write('a');
		await isSettled(new Promise(() => undefined));
		const { waiting } = await fill(file);
		open();
		const failure = {
			message: "'rows.csv' can't be written to n8n's store: disk full",
			hint: 'Make room on the disk, or raise the size limit of the store, and run it again.',
		};
		await waiting;
		await file.write('c');
		expect(file.failure).toMatchObject(failure);
		await expect(file.end()).rejects.toMatchObject(failure);
	});

	test('without data for a long time keeps the store waiting with empty pieces', async () => {
		const sizes: number[] = [];
		const { file, seen } = await growing({ receive: (piece) => void sizes.push(piece.length) });
		jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
		const pass = async (ms: number) => {
			await jest.advanceTimersByTimeAsync(ms);
			for (let turn = 0; turn < 5; turn += 1) await nextTurn();
		};
		await file.write('a');
		await pass(29_999);
		expect(sizes).toEqual([1]);
		await pass(1);
		expect(sizes).toEqual([1, 0]);
		await pass(30_000);
		expect(sizes).toEqual([1, 0, 0]);
		await file.write('bc');
		await pass(1);
		expect(sizes).toEqual([1, 0, 0, 2]);
		await file.end();
		expect(jest.getTimerCount()).toBe(0);
		jest.useRealTimers();
		expect(sizes).toEqual([1, 0, 0, 2]);
		expect(seen.stored[0]!.text).toBe('abc');
	});
});

describe('a file of an item', () => {
	async function opened(data: Partial<IBinaryKeyData[string]>, files: Given['files'] = {}, canceled?: AbortSignal) {
		const binary = { data: { data: '', mimeType: 'text/csv', ...data } };
		const { run, seen } = await fakeRun({}, { items: [{ json: {}, binary }], files, canceled });
		return { name: fileNameOf(run, 0, 'data'), ...openFile(run, 0, 'data', inputDataFieldName), seen };
	}
	const text = async (bytes: AsyncIterable<Uint8Array>) => {
		const pieces: Uint8Array[] = [];
		for await (const piece of bytes) pieces.push(piece);
		return { text: Buffer.concat(pieces).toString(), count: pieces.length };
	};

	test('is read from the store in pieces', async () => {
		const content = 'x'.repeat(300_000);
		const { name, read, close, seen } = await opened({ id: 'f', fileName: 'a.csv' }, { f: content });
		expect(name).toBe('a.csv');
		expect(await text(read())).toEqual({ text: content, count: 2 });
		expect(await text(read())).toEqual({ text: content, count: 2 });
		close();
		await isSettled(new Promise(() => undefined));
		expect(seen.openStreams).toBe(0);
	});

	test('may be closed before it is read', async () => {
		const { read, close, seen } = await opened({ id: 'f' }, { f: 'x'.repeat(300_000) });
		expect(seen.openStreams).toBe(0);
		await read().next();
		expect(seen.openStreams).toBe(1);
		close();
		await isSettled(new Promise(() => undefined));
		expect(seen.openStreams).toBe(0);
	});

	test('is read no further once the execution is canceled', async () => {
		const cancel = new AbortController();
		const { read } = await opened({ id: 'f' }, { f: 'x'.repeat(600_000) }, cancel.signal);
		const bytes = read();
		expect((await bytes.next()).value).toHaveLength(196_608);
		cancel.abort();
		await expect(bytes.next()).rejects.toMatchObject({ name: 'ServiceError', message: 'The execution was canceled' });
	});

	test('is read from memory if n8n keeps it there', async () => {
		const { read, close } = await opened({ data: Buffer.from('abc').toString('base64') });
		expect(await text(read())).toEqual({ text: 'abc', count: 1 });
		expect(await text(read())).toEqual({ text: 'abc', count: 1 });
		close();
	});

	test.each<[Partial<IBinaryKeyData[string]>, string]>([
		[{ fileName: '/tmp/a b.csv' }, 'a b.csv'],
		[{ fileExtension: 'csv' }, 'data.csv'],
		[{}, 'data'],
	])('of %j is called %s', async (data, expected) => {
		expect((await opened(data)).name).toBe(expected);
	});

	const HINT = { field: 'Input Data Field Name', hint: 'Run the node that created the file again.' };
	test('that is not in the store is an error', async () => {
		const { read } = await opened({ id: 'f', fileName: 'a.csv' }, { f: new Error('gone') });
		await expect(text(read())).rejects.toMatchObject({ message: "'a.csv' can't be read from n8n's store: gone", ...HINT });
	});

	test('that breaks off is an error', async () => {
		const { read } = await opened({ id: 'f', fileName: 'a.csv' }, { f: ['abc', new Error('torn')] });
		await expect(text(read())).rejects.toMatchObject({ message: "'a.csv' can't be read from n8n's store: torn", ...HINT });
	});
});

describe('the fields of an item with files', () => {
	const file = { data: '', mimeType: 'text/plain' };
	const fieldsOf = async (names: string, binary?: IBinaryKeyData) => {
		const { run } = await fakeRun({ inputDataFieldName: names }, { items: [{ json: {}, binary }] });
		return binaryFields(run, 0);
	};

	test.each<[string, string[], string[]]>([
		['', ['a', 'b'], ['a', 'b']],
		[' ', ['a'], ['a']],
		['b', ['a', 'b'], ['b']],
		[' b , a,', ['a', 'b'], ['b', 'a']],
		['a,a', ['a'], ['a']],
	])('%j of %j: %j', async (names, available, chosen) => {
		const binary = Object.fromEntries(available.map((name) => [name, file]));
		expect(await fieldsOf(names, binary)).toEqual(chosen);
	});

	test('are never all of them because an expression returned nothing', async () => {
		const nothing = "'Input Data Field Name' is empty: its expression returned nothing";
		await expect(fieldsOf('={{ undefined }}', { a: file })).rejects.toThrow(nothing);
	});

	const PASS_ON = expect.stringMatching(
		/^Put a node before this one that reads or downloads a file\. The nodes between them must pass it on/,
	);
	test.each<[string, IBinaryKeyData | undefined, string, string]>([
		[
			' , ',
			{ a: file },
			"'Input Data Field Name' names no field: ','",
			'Enter the names of fields with files, separated by commas, or leave it empty for all.',
		],
		['', {}, 'The item has no file', PASS_ON],
		['', undefined, 'The item has no file', PASS_ON],
		['a,c,d', { a: file, b: file }, "The item has no file in 'c', 'd'", 'Fields with files in this item: a, b.'],
		['c', {}, "The item has no file in 'c'", PASS_ON],
		['c', undefined, "The item has no file in 'c'", PASS_ON],
	])('%j of %j is an error', async (names, binary, message, hint) => {
		await expect(fieldsOf(names, binary)).rejects.toMatchObject({ message, hint, field: 'Input Data Field Name' });
	});
});
