/** Files and files of rows through real n8n, in each of its binary data modes: in, and back. */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { sandboxCredential } from '../../../harness/examples.mts';
import { N8N_VERSION } from '../../../harness/install.mts';
import { startN8n } from '../../../harness/n8nProcess.mts';
import { createOwner, type ExecutionItem, outputItems, type JsonObject, signIn } from '../../../harness/n8nApi.mts';
import { baseNode, byId, inTable, linearWorkflow, platformNode, type Step } from '../../support/linearWorkflow.mts';
import { part } from '../../support/part.mts';
import { StubServer, fileResponse } from '../../support/stubServer.mts';
import { readRecords } from '../../support/apiClient.mts';
import { run } from '../run.mts';

const files = {
	web: { name: 'from the web.bin', bytes: randomBytes(3_000_001) },
	disk: { name: 'von der Platte – ключ.bin', bytes: randomBytes(1_000_000) },
};

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Two rows, one of which the platform accepts. */
const ROWS = 'iata,name,city,latitude\r\nX1,"One, ""1""",=Aa,1.5\r\nX2,Two,Bb,north\r\n';

const server = new StubServer(({ target }) =>
	target === '/rows' ? fileResponse('airports.csv', Buffer.from(ROWS), 'text/csv') : fileResponse(files.web.name, files.web.bytes),
);

let environment: TestEnvironment;
let folder: string;

before(async () => {
	environment = await setUpTestEnvironment();
	folder = join(environment.userFolder, 'files');
	await mkdir(folder);
	await writeFile(join(folder, files.disk.name), files.disk.bytes);
	await server.start();
});

after(async () => {
	await server.stop();
	await environment?.tearDown();
});

const papers = (name: string, operation: string, parameters: JsonObject) =>
	platformNode(name, `attachment: ${operation}`, { ...inTable('crm', 'deals'), fileField: 'papers', options: {}, ...parameters });

const disk = (name: string, parameters: JsonObject) => baseNode(name, 'readWriteFile', 1, { options: {}, ...parameters });

const airports = (name: string, operation: string, options: JsonObject = {}) =>
	platformNode(name, `record: ${operation}`, { ...inTable('geo', 'airports'), options });

const web = (path: string, name = 'Get', outputPropertyName = 'data') =>
	baseNode(name, 'httpRequest', 4.2, {
		url: `${server.origin}${path}`,
		options: { response: { response: { responseFormat: 'file', outputPropertyName } } },
	});

/** `default` is memory. n8n 1 has no database mode. */
const modes = ['default', 'filesystem', ...(N8N_VERSION.startsWith('1.') ? [] : ['database'])];

for (const mode of part(modes, 1)) {
	const assertStored = (item: ExecutionItem | undefined) => {
		const { data } = (item as { binary?: Record<string, { id?: string }> }).binary ?? {};
		assert.ok(data);
		if (mode === 'default') assert.equal(data.id, undefined);
		else assert.match(data.id ?? '', new RegExp(`^${mode}`));
	};

	test(`in and out again, with n8n's binary data mode ${mode}`, async (context) => {
		const n8n = await startN8n({
			userFolder: environment.userFolder,
			isBare: true,
			env: { N8N_DEFAULT_BINARY_DATA_MODE: mode, N8N_RESTRICT_FILE_ACCESS_TO: folder, N8N_BLOCK_FILE_ACCESS_TO_N8N_FILES: 'false' },
		});
		context.after(async () => await n8n.stop());
		const owner = { ...createOwner(), password: 'Only-for-this-1' };
		const n8nApi = await signIn(n8n.url, owner);
		const credential = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
		const deals = await readRecords(environment.sandbox, 'crm', 'deals');
		const sources: Array<[keyof typeof files, Step]> = [
			['web', web('/file')],
			['disk', disk('Get', { fileSelector: join(folder, files.disk.name) })],
		];
		for (const [index, [source, get]] of sources.entries()) {
			const recordId = byId(deals[index]!.id);
			const back = join(folder, `${mode}-${source}.bin`);
			const workflow = linearWorkflow(`${mode} ${source}`, credential, [
				get,
				papers('Up', 'upload', { recordId, target: 'existing', existingFiles: 'replace', inputDataFieldName: 'data' }),
				papers('Down', 'download', { recordId, outputField: 'data' }),
				disk('Put', { operation: 'write', fileName: back, dataPropertyName: 'data' }),
			]);
			const execution = await run(n8nApi, workflow);

			const { name, bytes } = files[source];
			const [uploaded] = outputItems(execution, 'Up');
			assert.deepEqual(uploaded?.json.uploaded, [name]);
			const record = (await readRecords(environment.sandbox, 'crm', 'deals')).find(({ id }) => id === deals[index]!.id);
			const [stored] = record?.fields.papers as Array<{ fileName: string; fileSize: number }>;
			assert.deepEqual([stored?.fileName, stored?.fileSize], [name, bytes.length]);
			assert.equal(hash(await readFile(back)), hash(bytes));

			assertStored(outputItems(execution, 'Down')[0]);
		}

		const rejected = join(folder, `${mode}-rejected.csv`);
		const exported = join(folder, `${mode}-airports.csv`);
		const write = { operation: 'write', fileName: rejected, dataPropertyName: 'rejected' };
		const rows = linearWorkflow(`${mode} rows`, credential, [
			web('/rows'),
			airports('Import', 'importFromFile'),
			disk('Put rejected', write),
			airports('Export', 'exportToFile'),
			disk('Put', { ...write, fileName: exported, dataPropertyName: 'data' }),
			airports('Import again', 'importFromFile', { skipUnchanged: true }),
		]);
		const execution = await run(n8nApi, rows);
		const [first] = outputItems(execution, 'Import');
		assert.deepEqual([first?.json.rows, first?.json.rejected], [2, 1]);
		assert.match(await readFile(rejected, 'utf8'), /\r\nX2,Two,Bb,north,.*,latitude,3\r\n$/);
		assert.match(await readFile(exported, 'utf8'), /,X1,"One, ""1""",'=Aa,.*,1\.5,/);
		assertStored(outputItems(execution, 'Export')[0]);
		const stored = await readRecords(environment.sandbox, 'geo', 'airports');
		const [again] = outputItems(execution, 'Import again');
		assert.deepEqual([again?.json.rows, again?.json.unchanged], [stored.length, stored.length]);

		// What the error for several files of an item advises.
		const several = linearWorkflow(`${mode} several files`, credential, [
			web('/rows', 'One', 'one'),
			web('/rows', 'Two', 'two'),
			baseNode('Split', 'splitOut', 1, { fieldToSplitOut: '$binary', options: {} }),
			platformNode('Import', 'record: importFromFile', { ...inTable('geo', 'airports'), inputDataFieldName: '', options: {} }),
		]);
		const imported = outputItems(await run(n8nApi, several), 'Import');
		assert.deepEqual(
			imported.map(({ json }) => [json.file, json.rows]),
			[
				['airports.csv', 2],
				['airports.csv', 2],
			],
		);
	});
}
