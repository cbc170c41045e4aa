/** A thread of its own that serves as many sandboxes as it is asked for, on free ports. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSandbox } from '../../../sandbox/sandbox.mts';
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
	const response = await fetch(`${baseUrl}/sandbox/tokens`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({
			name: 'write-only',
			type: 'role',
			permissions: [{ app: APP, table: '*', allow: ['structure', 'create', 'update'] }],
		}),
	});
	const { data } = (await response.json()) as { data: { value: string } };
	addresses.push({ baseUrl, token: tokens.role!, writeOnlyToken: data.value });
}
parentPort?.postMessage(addresses);
