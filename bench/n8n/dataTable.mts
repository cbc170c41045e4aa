/** n8n's own tables, for comparison: nothing is sent to the platform. */
import { createItem, KEY_FIELD } from '../benchTable.mts';
import { AUTOMATIC, locator, node } from './steps.mts';
import type { WorkloadContestant } from './workloads.mts';

/** n8n's Data Table node. Each run has a new table. */
export function dataTable(operation: 'upsert' | 'insert'): WorkloadContestant {
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
