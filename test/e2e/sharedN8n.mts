/**
 * One n8n for all files of a folder, with the package, a sandbox and the demo's services; its owner is signed
 * in. Node's test runner starts it before the files (`--test-global-setup`, in `scripts/test.mts`). A file that
 * runs by itself starts its own.
 */

import { after } from 'node:test';
import type { DemoServices } from '../../harness/demoServices.mts';
import { CREDENTIAL_TYPE, readExample, sandboxCredential } from '../../harness/examples.mts';
import { createOwner, type N8nApi, type Owner, signIn, withCredential, type WorkflowJson } from '../../harness/n8nApi.mts';
import { startN8n } from '../../harness/n8nProcess.mts';
import { type ConnectedSandbox, connectSandbox } from '../../harness/sandboxProcess.mts';
import { setUpTestEnvironment } from '../../harness/testEnvironment.mts';
import { storeCredential } from '../support/n8n.mts';

/** How a file of the folder reaches it. */
interface Connection {
	url: string;
	owner: Owner;
	userFolder: string;
	sandbox: Pick<ConnectedSandbox, 'baseUrl' | 'tokens'>;
	services: Pick<DemoServices, 'addresses' | 'modelCredential'>;
}

export interface SharedN8n extends Omit<Connection, 'sandbox'> {
	api: N8nApi;
	/** As it is when it starts. */
	sandbox: ConnectedSandbox;
	/** The one for the sandbox. */
	credential: { id: string; name: string };
	/** An example with the credentials of the sandbox and of the demo's model, and URLs of this machine in place of the others. */
	readExample(name: string, addresses?: Record<string, string>): Promise<WorkflowJson>;
}

const VARIABLE = 'SHARED_N8N';

let stop: (() => Promise<void>) | undefined;

async function start(): Promise<Connection> {
	const { userFolder, sandbox, services, tearDown } = await setUpTestEnvironment();
	stop = tearDown;
	const n8n = await startN8n({ userFolder });
	stop = async () => {
		await n8n.stop();
		await tearDown();
	};
	const owner = createOwner();
	await signIn(n8n.url, owner);
	const { baseUrl, tokens } = sandbox;
	const { addresses, modelCredential } = services;
	return { url: n8n.url, owner, userFolder, sandbox: { baseUrl, tokens }, services: { addresses, modelCredential } };
}

export async function globalSetup(): Promise<void> {
	process.env[VARIABLE] = JSON.stringify(await start());
}

export async function globalTeardown(): Promise<void> {
	await stop?.();
}

/** For a whole test file. */
export async function useN8n(): Promise<SharedN8n> {
	after(async () => await stop?.());
	const variable = process.env[VARIABLE];
	const connection = variable === undefined ? await start() : (JSON.parse(variable) as Connection);
	const { url, owner, services } = connection;
	const sandbox = connectSandbox(connection.sandbox.baseUrl, connection.sandbox.tokens);
	await sandbox.admin.reset();
	const api = await signIn(url, owner);
	const credential = await storeCredential(api, sandboxCredential(sandbox));
	const model = await storeCredential(api, services.modelCredential);
	return {
		...connection,
		api,
		sandbox,
		credential,
		readExample: async (name, addresses) => {
			const example = await readExample(name, { ...services.addresses, ...addresses });
			for (const node of example.nodes) if (node.type.endsWith('.lmChatOpenAi')) node.credentials = { openAiApi: model };
			return withCredential(example, CREDENTIAL_TYPE, credential);
		},
	};
}
