/** Looks at the sandbox from outside: with axios, and none of the nodes' code. */

import axios, { type AxiosInstance } from 'axios';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';

export interface StoredRecord {
	id: string;
	ver: number;
	fields: Record<string, unknown>;
}

const PAGE_SIZE = 1000;

function client({ baseUrl, tokens }: RunningSandbox): AxiosInstance {
	return axios.create({
		baseURL: `${baseUrl}/api/v2`,
		headers: { Authorization: `Bearer ${tokens.role}` },
	});
}

/** All records of a table. */
export async function readRecords(
	sandbox: RunningSandbox,
	application: string,
	table: string,
): Promise<StoredRecord[]> {
	const records: StoredRecord[] = [];
	for (;;) {
		const { data } = await client(sandbox).get<{ data: StoredRecord[] }>(
			`/apps/${application}/tables/${table}/data`,
			{ params: { limit: PAGE_SIZE, skip: records.length } },
		);
		records.push(...data.data);
		if (data.data.length < PAGE_SIZE) return records;
	}
}
