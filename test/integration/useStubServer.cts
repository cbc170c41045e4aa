/** A server that plays the platform, or someone else's, for tests in which the raw request or response matters. */
import type { IDataObject } from 'n8n-workflow';
import type { Credential } from '../support/engine/engine.cts';
import { StubServer, jsonResponse } from '../support/stubServer.mts';
import { runRecord, type Run } from './fixtures.cts';

export class StubPlatform extends StubServer {
	get credential(): Credential {
		return { baseUrl: this.origin, token: 'made-up-token' };
	}

	/** Runs a record operation of the node on its table. */
	run = async (operation: string, run: Run = {}) => await runRecord(this.credential, operation, { application: 'crm', table: 't', ...run });

	/** Responds as a platform with one table: its definition, its records in pages, and success to every write. */
	respondWith({ fields = [], records = [], written = [] }: StubTable) {
		this.respond = ({ method, target }) => {
			const { pathname, searchParams } = new URL(target, this.origin);
			const [, path] = pathname.split('/data');
			if (path === undefined) return jsonResponse({ data: { id: 't', internalNameApi: 't', header: 'T', items: fields } });
			if (method !== 'GET') return jsonResponse({ data: written, bulk: { successCount: written.length } });
			if (path !== '') return jsonResponse({ data: records.find(({ id }) => path === `/${id}`) });
			const [skip, limit] = [Number(searchParams.get('skip') ?? 0), Number(searchParams.get('limit') ?? 25)];
			const sorted = searchParams.get('sort')?.includes('desc') ? records.toReversed() : records;
			return jsonResponse({ data: sorted.slice(skip, skip + limit) });
		};
	}
}

interface StubTable {
	fields?: Array<{ name: string; type?: string; header?: string }>;
	/** In the order of their last changes. */
	records?: Array<IDataObject & { id: string }>;
	/** What a write returns. */
	written?: IDataObject[];
}

/** A stub server for a test file. Its requests and its response are reset before each test. */
export function useStubServer(): StubPlatform {
	const respond = () => jsonResponse({ data: [] });
	const server = new StubPlatform(respond);
	beforeAll(async () => void (await server.start()));
	beforeEach(() => {
		server.requests.length = 0;
		server.respond = respond;
	});
	afterAll(async () => await server.stop());
	return server;
}
