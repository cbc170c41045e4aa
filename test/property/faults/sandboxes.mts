/** A thread that serves the requested number of sandboxes, on free ports. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSandbox } from '../../../sandbox/sandbox.mts';
import { createSandboxAdmin } from '../../support/sandboxAdmin.mts';
import { APP } from './constants.mts';

export interface SandboxAddress {
	baseUrl: string;
	token: string;
	/** May write records, not read them. */
	writeOnlyToken: string;
}

const addresses: SandboxAddress[] = [];
for (let count = 0; count < (workerData as number); count += 1) {
	const { baseUrl, tokens } = await openSandbox({ port: 0, file: ':memory:', seeded: false });
	const writeOnlyToken = await createSandboxAdmin(baseUrl).createToken({
		name: 'write-only',
		type: 'role',
		permissions: [{ app: APP, table: '*', allow: ['structure', 'create', 'update'] }],
	});
	addresses.push({ baseUrl, token: tokens.role!, writeOnlyToken });
}
parentPort?.postMessage(addresses);
