/** Reads what the platform returns over its API, without any of the nodes' code. */

import type { ConnectedSandbox } from '../../harness/sandboxProcess.mts';

export interface StoredRecord {
	id: string;
	ver: number;
	fields: Record<string, unknown>;
}

const PAGE_SIZE = 1000;

/** All records of a table, in the order of their creation. */
export async function readRecords(sandbox: ConnectedSandbox, application: string, table: string): Promise<StoredRecord[]> {
	const records: StoredRecord[] = [];
	for (;;) {
		const { status, data } = await sandbox
			.client()
			.get<{
				data: StoredRecord[];
			}>(`/apps/${application}/tables/${table}/data`, { params: { sort: 'created', limit: PAGE_SIZE, skip: records.length } });
		if (status !== 200) throw new Error(`Reading ${table}: ${status} ${JSON.stringify(data)}`);
		records.push(...data.data);
		if (data.data.length < PAGE_SIZE) return records;
	}
}

/** How many records a table has. */
export async function countRecords(sandbox: ConnectedSandbox, application: string, table: string): Promise<number> {
	const { data } = await sandbox.client().get<{ data: { count: number } }>(`/apps/${application}/tables/${table}/data/count`);
	return data.data.count;
}
