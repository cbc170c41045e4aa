/** Files through real n8n: from the web and from disk into the platform, and back, unchanged. */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { sandboxCredential } from '../../../harness/examples.mts';
import { N8N_VERSION } from '../../../harness/install.mts';
import { startN8n } from '../../../harness/n8nProcess.mts';
import {
	describeFailure,
	createOwner,
	outputItems,
	type JsonObject,
	signIn,
} from '../../../harness/n8nApi.mts';
import { linearWorkflow, BASE_NODES, NODE_TYPE, type Step } from '../../support/linearWorkflow.mts';
import { StubServer, fileResponse } from '../../support/stubServer.mts';
import { readRecords } from '../../support/apiClient.mts';

const files = {
	web: { name: 'from the web.bin', bytes: randomBytes(3_000_001) },
	disk: { name: 'von der Platte – ключ.bin', bytes: randomBytes(1_000_000) },
};

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const server = new StubServer(() => fileResponse(files.web.name, files.web.bytes));

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

const platform = (name: string, operation: string, parameters: JsonObject): Step => ({
	name,
	type: NODE_TYPE,
	typeVersion: 1,
	parameters: {
		resource: 'attachment',
		operation,
		application: { __rl: true, mode: 'id', value: 'crm' },
		table: { __rl: true, mode: 'id', value: 'deals' },
		fileField: 'papers',
		options: {},
		...parameters,
	},
});

const disk = (name: string, parameters: JsonObject): Step => ({
	name,
	type: `${BASE_NODES}.readWriteFile`,
	typeVersion: 1,
	parameters: { options: {}, ...parameters },
});

const web = (): Step => ({
	name: 'Get',
	type: `${BASE_NODES}.httpRequest`,
	typeVersion: 4.2,
	parameters: {
		url: `${server.origin}/file`,
		options: { response: { response: { responseFormat: 'file' } } },
	},
});

/** n8n 1 has no database mode. */
const modes = N8N_VERSION.startsWith('1.') ? ['filesystem'] : ['filesystem', 'database'];

for (const mode of modes) {
	test(`up and down again, with n8n's binary data in the ${mode}`, async () => {
		const n8n = await startN8n({
			userFolder: environment.userFolder,
			env: {
				N8N_DEFAULT_BINARY_DATA_MODE: mode,
				N8N_RESTRICT_FILE_ACCESS_TO: folder,
				N8N_BLOCK_FILE_ACCESS_TO_N8N_FILES: 'false',
			},
		});
		try {
			const owner = { ...createOwner(), password: 'Only-for-this-1' };
			const n8nApi = await signIn(n8n.url, owner);
			const credential = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
			const deals = await readRecords(environment.sandbox, 'crm', 'deals');
			const sources: Array<[keyof typeof files, Step]> = [
				['web', web()],
				['disk', disk('Get', { fileSelector: join(folder, files.disk.name) })],
			];
			for (const [index, [source, get]] of sources.entries()) {
				const recordId = { __rl: true, mode: 'id', value: deals[index]!.id };
				const back = join(folder, `${mode}-${source}.bin`);
				const workflow = linearWorkflow(`${mode} ${source}`, credential, [
					get,
					platform('Up', 'upload', {
						recordId,
						target: 'existing',
						existingFiles: 'replace',
						inputDataFieldName: 'data',
					}),
					platform('Down', 'download', { recordId, outputField: 'data' }),
					disk('Put', { operation: 'write', fileName: back, dataPropertyName: 'data' }),
				]);
				const execution = await n8nApi.runWorkflow(await n8nApi.createWorkflow(workflow), 'Start');
				assert.equal(describeFailure(execution), undefined);

				const { name, bytes } = files[source];
				const [uploaded] = outputItems(execution, 'Up');
				assert.deepEqual(uploaded?.json.uploaded, [name]);
				const record = (await readRecords(environment.sandbox, 'crm', 'deals')).find(
					({ id }) => id === deals[index]!.id,
				);
				const [stored] = record?.fields.papers as Array<{ fileName: string; fileSize: number }>;
				assert.deepEqual([stored?.fileName, stored?.fileSize], [name, bytes.length]);
				assert.equal(hash(await readFile(back)), hash(bytes));

				const [down] = outputItems(execution, 'Down') as Array<{
					binary?: { data?: { id?: string } };
				}>;
				assert.match(down?.binary?.data?.id ?? '', new RegExp(`^${mode}`));
			}
		} finally {
			await n8n.stop();
		}
	});
}
