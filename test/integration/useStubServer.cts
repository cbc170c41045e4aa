import { StubServer, jsonResponse } from '../support/stubServer.mts';

/** A stub server for a test file. Its requests and its response are reset before each test. */
export function useStubServer(): StubServer {
	const respond = () => jsonResponse({ data: [] });
	const server = new StubServer(respond);
	beforeAll(async () => void (await server.start()));
	beforeEach(() => {
		server.requests.length = 0;
		server.respond = respond;
	});
	afterAll(async () => await server.stop());
	return server;
}
