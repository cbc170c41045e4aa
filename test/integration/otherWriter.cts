/**
 * The sandbox behind a gateway that lets another writer act at a chosen moment: just before a
 * request of the node arrives.
 */
import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathOf } from '../support/stubServer.mts';
import type { TestHarness } from './fixtures.cts';

/** A request on its way: `POST /data/filter`, without the part before `/data`. */
type Act = (target: string, count: number) => Promise<unknown> | undefined;

export interface OtherWriter {
	/** For the node's `credential`: leads through the gateway. */
	credential(): { baseUrl: string };
	/** Sets what to do before a request is forwarded. `count` counts all requests, from 1. */
	before(act: Act): void;
}

/** A gateway for a test file. Before each test, it is reset to only forward requests. */
export function useOtherWriter(harness: TestHarness): OtherWriter {
	let act: Act = () => undefined;
	let count = 0;
	const server = createServer((incoming: IncomingMessage, outgoing) => {
		void (async () => {
			count += 1;
			const target = `${incoming.method} ${/\/data.*?(?=\?|$)/.exec(pathOf(incoming))?.[0] ?? ''}`;
			await act(target, count);
			const onward = forward(
				new URL(pathOf(incoming), harness.sandbox.baseUrl),
				{ method: incoming.method, headers: incoming.headers },
				(response) => {
					outgoing.writeHead(response.statusCode ?? 502, response.headers);
					response.pipe(outgoing);
				},
			);
			onward.on('error', () => outgoing.destroy());
			incoming.pipe(onward);
		})();
	});
	beforeAll(async () => await new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
	beforeEach(() => {
		act = () => undefined;
		count = 0;
	});
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((done) => server.close(done));
	});
	return {
		credential: () => ({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
		before: (next) => {
			act = next;
		},
	};
}
