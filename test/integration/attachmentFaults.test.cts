import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined, picked } from '../support/engine/engine.cts';
import { hash, inMemory, openFiles, read, stored, useAttachmentHarness } from './attachmentFixtures.cts';
import { UNKNOWN_ID } from './fixtures.cts';

const harness = useAttachmentHarness();

/** Large enough that most of it has been sent before its last byte is handed over. */
const LARGE = 24 * 1024 * 1024;

const upload = async (parameters = {}) => await harness.upload([await stored('a.txt', 'content')], { parameters });

const write = { method: 'PATCH' };
const fetching = { method: 'GET', path: '/files/' };

// A file is closed shortly after its stream has ended.
afterEach(async () => {
	for (let tries = 0; tries < 50 && openFiles() > 0; tries += 1) await sleep(20);
	expect(openFiles()).toBe(0);
});

describe('an upload', () => {
	test('that is too large for the platform fails, and nothing is written', async () => {
		await harness.settings({ maxFileBytes: 5 });
		const { error } = await upload();
		expect(error!.message).toContain("'a.txt' is larger than 5 bytes");
		expect(error!.description).toContain('Nothing was written');
		expect((await harness.records())[0]!.ver).toBe(0);
		expect(await harness.writes()).toHaveLength(1);
	});

	test('above the limit of the options sends nothing', async () => {
		const { error } = await harness.upload([await stored('big', randomBytes(2_000_000))], { options: { maxFileSizeMiB: 1 } });
		expect(error!.message).toBe("'big' has 1.9 MiB, more than the limit of 1.0 MiB");
		expect(await harness.writes()).toEqual([]);
	});

	test('that is interrupted in the middle is sent again from its start', async () => {
		await harness.faults({ when: { nth: [1] }, match: write, fault: { kind: 'resetUpload', bytes: 2_000_000 } });
		const bytes = [randomBytes(LARGE), randomBytes(1000)];
		const files = await Promise.all(bytes.map(async (content, index) => await stored(String(index), content)));
		const { error } = await harness.upload(files);
		expect(error).toBeUndefined();
		const there = await Promise.all((await harness.files()).map(async (file) => await harness.bytes(file)));
		expect(there.map(hash)).toEqual(bytes.map(hash));
		expect((await harness.writes()).map(({ outcome }) => outcome)).toEqual(['reset', 'completed']);
	});

	test('with a new record whose response is lost may have created it', async () => {
		await harness.faults({ match: { method: 'POST', path: '/data$' }, fault: { kind: 'resetAfter' } });
		const { error } = await upload({ target: 'new', columns: defined({ number: '2', title: 'New' }) });
		expect(error!.message).toMatch(/^Unknown whether the record was created/);
		expect(error!.description).toBe('Look for it in the table before you run it again.');
		expect(await harness.records()).toHaveLength(2);
	});

	test('that is asked to wait builds its body again', async () => {
		await harness.faults({ when: { first: 2 }, match: write, fault: { kind: 'status', status: 429, retryAfterSeconds: 0 } });
		const content = randomBytes(500_000);
		const { error } = await harness.upload([await stored('a', content), inMemory('b', 'B')]);
		expect(error).toBeUndefined();
		const [file] = await harness.files();
		expect(hash(await harness.bytes(file!))).toBe(hash(content));
		expect(await harness.writes()).toHaveLength(3);
	});

	test('to a record that does not exist is rejected before the file is sent', async () => {
		const { error } = await upload({ recordId: picked(UNKNOWN_ID) });
		expect(error!.message).toContain(`no record '${UNKNOWN_ID}'`);
		expect(await harness.writes()).toEqual([]);
	});

	test.each([
		['title', "The field 'title' holds no files: its type is text"],
		['nope', "has no field 'nope'"],
	])('into the field %s is rejected: %s', async (fileField, message) => {
		const { error } = await upload({ fileField });
		expect(error!.message).toContain(message);
		expect(error!.description).toContain("'papers', 'scans', 'photo'");
		expect(await harness.writes()).toEqual([]);
	});
});

describe('a download', () => {
	const content = randomBytes(300_000);

	beforeEach(async () => {
		await harness.upload([await stored('a.bin', content)]);
		await harness.clearRequests();
	});

	test.each([
		{ kind: 'truncate' },
		{ kind: 'truncate', bytes: 0 },
		{ kind: 'wrongLength', by: 10 },
		{ kind: 'wrongLength', by: -10 },
		{ kind: 'resetBefore' },
		{ kind: 'status', status: 503 },
	])('that breaks off once is repeated: %j', async (fault) => {
		await harness.faults({ when: { nth: [1] }, match: fetching, fault });
		const result = await harness.run('download');
		expect(result.error).toBeUndefined();
		expect(hash(await read(result.output('Data Platform')[0]))).toBe(hash(content));
		expect(await harness.downloads()).toHaveLength(2);
	});

	test.each([{ kind: 'truncate' }, { kind: 'wrongLength', by: 10 }, { kind: 'wrongLength', by: -10 }])(
		'that always breaks off is no file: %j',
		async (fault) => {
			await harness.faults({ match: fetching, fault });
			const options = { maxRetryWait: 0 };
			const { error } = await harness.run('download', { options });
			expect(error!.message).toMatch(/^'a\.bin' could not be downloaded: /);
			const continued = await harness.run('download', { options, onError: 'continueRegularOutput' });
			expect(continued.output('Data Platform')[0]!.binary).toBeUndefined();
		},
	);

	test('of a field without files fails', async () => {
		const { error } = await harness.run('download', { parameters: { fileField: 'scans' } });
		expect(error!.message).toContain('has no files in the field');
	});

	test('of a file that does not exist fails, and the error lists the files that there are', async () => {
		const { error } = await harness.run('download', { parameters: { fileId: 'nothing' } });
		expect(error!.message).toBe(`Record '${harness.id}' has no file 'nothing' in the field 'papers'`);
		expect(error!.description).toContain('a.bin (');
	});
});
