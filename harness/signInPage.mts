/**
 * One click into the editor: a page on loopback that signs in as n8n's owner, and redirects the
 * browser with n8n's own session cookie. A browser keeps a cookie per host, whatever the port.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Owner } from './n8nApi.mts';

export interface SignInPage {
	/** Contains a secret: whoever opens it is the owner of this n8n. */
	url: string;
	stop(): Promise<void>;
}

/** n8n's session cookies for its owner, with their attributes. */
async function signInAgain(n8nUrl: string, { email, password }: Owner): Promise<string[]> {
	// Without a browser id, which n8n would bind the session to: the browser creates one.
	const response = await fetch(`${n8nUrl}/rest/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ emailOrLdapLoginId: email, password }),
	});
	if (!response.ok) throw new Error(`n8n returned ${response.status}`);
	return response.headers.getSetCookie();
}

/** Serves the page on a free port of 127.0.0.1; it leads to the given URL of the editor. */
export async function startSignInPage(
	n8nUrl: string,
	owner: Owner,
	destination: string,
): Promise<SignInPage> {
	const path = `/${randomBytes(12).toString('base64url')}`;
	const server = createServer((request, response) => {
		if (request.method !== 'GET' || request.url !== path) {
			response.writeHead(404).end();
			return;
		}
		signInAgain(n8nUrl, owner).then(
			(cookies) =>
				response
					.writeHead(302, {
						'set-cookie': cookies,
						location: destination,
						'cache-control': 'no-store',
						'referrer-policy': 'no-referrer',
					})
					.end(),
			// n8n stopped, or the owner changed the password.
			() => response.writeHead(302, { location: `${n8nUrl}/signin` }).end(),
		);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
