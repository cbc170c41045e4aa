/** Another writer, who changes a record just before one of the node's requests arrives. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { TABLE, APP } from './constants.mts';
import type { Fields } from './table.mts';

/** What the other writer does, once. */
export interface OtherWrite {
	/** Before which request of the node, counted from 1. */
	before: number;
	action: 'insert' | 'update' | 'delete';
	/** The record; an insert has none yet. */
	id?: string;
	fields?: Fields;
}

interface Place {
	baseUrl: string;
	otherToken: string;
}

/** Faults may also affect this request, but one that hangs must not delay the node. */
const LONGEST_WRITE_MS = 1000;

/** Whatever the response: the history knows what was written. */
async function write(address: Place, { action, id, fields }: OtherWrite): Promise<void> {
	const method = { insert: 'POST', update: 'PATCH', delete: 'DELETE' }[action];
	const path = `/api/v2/apps/${APP}/tables/${TABLE}/data${id === undefined ? '' : `/${id}`}`;
	const response = await fetch(address.baseUrl + path, {
		method,
		headers: { Authorization: `Bearer ${address.otherToken}`, ...(fields && { 'Content-Type': 'application/json' }) },
		...(fields && { body: JSON.stringify({ fields }) }),
		signal: AbortSignal.timeout(LONGEST_WRITE_MS),
	});
	await response.text();
}

/**
 * A gateway to a sandbox. It passes bytes on, so that the node sees broken connections and
 * responses as they are. n8n opens a connection for each request, so connections count as requests.
 */
export async function openGateway(address: Place, otherWrite: OtherWrite) {
	let count = 0;
	const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
		void (async () => {
			count += 1;
			client.on('error', () => undefined);
			if (count === otherWrite.before) await write(address, otherWrite).catch(() => undefined);
			const { hostname, port } = new URL(address.baseUrl);
			const sandbox = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
			sandbox.on('error', () => client.resetAndDestroy());
			sandbox.on('close', () => client.destroySoon());
			client.on('close', () => sandbox.destroy());
			if (client.destroyed) sandbox.destroy();
			client.pipe(sandbox).pipe(client);
		})();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
