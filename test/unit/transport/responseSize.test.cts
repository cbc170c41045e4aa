/** What a response may need of memory and time, before it is parsed. */
import { Readable } from 'node:stream';
import { MAX_VALUES, parseJson } from '../../../nodes/DataPlatform/transport/json.ts';
import { MIB, readText, type ByteStream } from '../../../nodes/DataPlatform/transport/streams.ts';

describe('the number of names and values', () => {
	const half = MAX_VALUES / 2;
	test.each<[what: string, text: string, isRead: boolean]>([
		['objects', `[${'{},'.repeat(half)}0]`, false],
		['lists', `[${'[],'.repeat(half)}0]`, false],
		['numbers', `[${'0,'.repeat(MAX_VALUES)}0]`, false],
		['as many numbers as allowed', `[${'0,'.repeat(MAX_VALUES - 1)}0]`, true],
		['names', `{${'"a":0,'.repeat(half)}"a":0}`, false],
		['as many names as allowed', `{${'"a":0,'.repeat(half - 1)}"a":0}`, true],
		['commas, colons and brackets in a text', `["${'{,:['.repeat(half)}\\"${','.repeat(half)}"]`, true],
		['500 levels', '['.repeat(500) + ']'.repeat(500), true],
		['501 levels', '['.repeat(501) + ']'.repeat(501), false],
	])('%s', (_, text, isRead) => {
		expect(parseJson(text) !== undefined).toBe(isRead);
	});
});

describe('responses that arrive at the same time', () => {
	const chunk = Buffer.alloc(2 * MIB, ' ');

	/** Responses of 60 MiB each; `held` says how much of those that are not complete was taken. */
	function responses(count: number) {
		const taken = Array<number>(count).fill(0);
		let held = 0;
		const streams = taken.map((_, index) => {
			async function* bytes() {
				for (let sent = 0; sent < 30; sent += 1) {
					taken[index]! += chunk.length;
					held = Math.max(
						held,
						taken.reduce((sum, size) => sum + size, 0),
					);
					yield chunk;
				}
			}
			return Readable.from(bytes(), { objectMode: true, highWaterMark: 1 }) as unknown as ByteStream;
		});
		const read = async (index: number, deadline: AbortSignal) =>
			await readText(streams[index]!, () => undefined, deadline, 'rejected').finally(() => (taken[index] = 0));
		return { read, most: () => held };
	}

	test('share one bound: the others wait until the first is complete', async () => {
		const { read, most: held } = responses(6);
		const never = new AbortController().signal;
		const texts = await Promise.all([0, 1, 2, 3, 4, 5].map(async (index) => (await read(index, never)).length));
		expect(texts).toEqual(Array(6).fill(60 * MIB));
		// The bound, the first one's rest, and what each stream has ready.
		expect(held() / MIB).toBeLessThanOrEqual(128 + 60 + 6 * 2 * 2);
	});

	test('a response whose time is over while it waits keeps no other from being read', async () => {
		const { read } = responses(4);
		const ending = new AbortController();
		const never = new AbortController().signal;
		const results = [0, 1, 2, 3].map(async (index) => (await read(index, index === 3 ? ending.signal : never)).length);
		ending.abort(new Error('over'));
		await expect(results[3]).rejects.toThrow('over');
		expect(await Promise.all(results.slice(0, 3))).toEqual(Array(3).fill(60 * MIB));
	});
});
