/** n8n's nodes for other tables, for comparison: they write somewhere else than to the platform. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createItem, KEY_FIELD } from '../benchTable.mts';
import { AUTOMATIC, code, locator, node } from './steps.mts';
import type { WorkContestant } from './works.mts';

/** n8n's own tables. Each run has a new one. */
export function dataTable(operation: 'upsert' | 'insert'): WorkContestant {
	let path = '';
	const columns = Object.entries(createItem(0)).map(([name, value]) => ({
		name,
		type: typeof value,
	}));
	return {
		differs: "writes into n8n's own database, without a network",
		async steps({ host }) {
			const api = await host.api();
			const project = await api.request<{ id: string }>('GET', '/projects/personal');
			const tables = `/projects/${project.id}/data-tables`;
			const name = crypto.randomUUID();
			const { id } = await api.request<{ id: string }>('POST', tables, { name, columns });
			path = `${tables}/${id}`;
			const key = { keyName: KEY_FIELD, condition: 'eq', keyValue: `={{ $json.${KEY_FIELD} }}` };
			const table = node('Data Table', 'dataTable', 1, {
				operation,
				dataTableId: locator(id),
				columns: AUTOMATIC,
				...(operation === 'upsert' && { filters: { conditions: [key] } }),
				options: {},
			});
			return [table];
		},
		async count({ host }) {
			const api = await host.api();
			return (await api.request<{ count: number }>('GET', `${path}/rows?take=1`)).count;
		},
	};
}

/** A stub of NocoDB's API, which returns every record that it receives with a new id. */
async function startNocoDbStub() {
	const stub = { baseUrl: '', records: 0 };
	const server = createServer(async (request, response) => {
		const sent = (await json(request)) as Array<{ fields: object }>;
		const records = sent.map(({ fields }) => ({ id: (stub.records += 1), fields }));
		response
			.writeHead(200, { 'content-type': 'application/json' })
			.end(JSON.stringify({ records }));
	});
	await once(server.listen(0, '127.0.0.1').unref(), 'listening');
	stub.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return stub;
}

/** NocoDB's Create or Update, which takes the values from `fields`. */
export function nocoDb(): WorkContestant {
	let started: ReturnType<typeof startNocoDbStub>;
	return {
		differs: 'sends each item by itself, to a stub that stores nothing',
		async steps({ host }) {
			const stub = await (started ??= startNocoDbStub());
			stub.records = 0;
			const data = { host: stub.baseUrl, apiToken: 'token' };
			const table = {
				...node('NocoDB', 'nocoDb', 4, {
					authentication: 'nocoDbApiToken',
					resource: 'row',
					operation: 'upsert',
					workspaceId: locator('workspace'),
					projectId: locator('base'),
					table: locator('table'),
					dataToSend: 'autoMapInputData',
					id: '',
					inputsToIgnore: '',
				}),
				credentials: { nocoDbApiToken: await host.credential('nocoDbApiToken', data) },
			};
			const nested = 'return $input.all().map(({ json }) => ({ json: { fields: json } }));';
			return [code('Fields', nested), table];
		},
		count: async () => (await started).records,
	};
}
