/** A thread that serves the requested number of sandboxes, on free ports. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSandbox } from '../../../sandbox/sandbox.mts';
import { createSandboxAdmin } from '../../../harness/sandboxAdmin.mts';
import { APP, OTHER_WRITER } from './constants.mts';

export interface SandboxAddress {
	baseUrl: string;
	token: string;
	/** May write records, not read them. */
	writeOnlyToken: string;
	/** The other writer's. */
	otherToken: string;
}

const addresses: SandboxAddress[] = [];
for (let count = 0; count < (workerData as number); count += 1) {
	const { baseUrl, tokens } = await openSandbox({ port: 0, file: ':memory:', seeded: false });
	const admin = createSandboxAdmin(baseUrl);
	const writeOnlyToken = await admin.createToken({
		name: 'write-only',
		type: 'role',
		permissions: [{ app: APP, table: '*', allow: ['structure', 'create', 'update'] }],
	});
	const otherToken = await admin.createToken({
		name: OTHER_WRITER,
		type: 'role',
		permissions: [{ app: APP, table: '*', allow: ['structure', 'create', 'update', 'delete'] }],
	});
	addresses.push({ baseUrl, token: tokens.role!, writeOnlyToken, otherToken });
}
parentPort?.postMessage(addresses);
