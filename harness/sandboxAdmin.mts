/** Clients of a running sandbox: its administration, and the platform's API without the nodes' code. */

import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';

export type HttpClient = AxiosInstance;
export type HttpResponse = AxiosResponse;

/** A record as it is in the sandbox's database: links as ids, without empty fields. */
export interface StoredRecord {
	id: string;
	ver: number;
	created: string;
	modified: string;
	fields: Record<string, unknown>;
}

export interface StoredVersion {
	id: string;
	ver: number;
	action: 'inserted' | 'updated' | 'deleted';
	/** The number of the request that wrote it; 0 is the sandbox itself. */
	request: number;
	at: string;
	fields: Record<string, unknown> | null;
}

export interface LoggedRequest {
	number: number;
	method: string;
	path: string;
	query: string;
	status: number | null;
	outcome: 'running' | 'completed' | 'reset';
	token: string | null;
	bodyBytes: number;
	records: number | null;
	faults: string[];
	startedAt: string;
	milliseconds: number | null;
	/** Whether its handler is still running, perhaps for a client that has disconnected. */
	busy: boolean;
}

/** A run of a workflow of the platform. */
export interface WorkflowRun {
	id: string;
	payload: Record<string, unknown>;
}

/** docs/sandbox.md, "Faults". */
export interface FaultRule {
	id?: string;
	match?: { method?: string; path?: string; bodyContains?: string };
	when?: { nth?: number[]; every?: number; first?: number; probability?: number; seed?: number };
	fault: { kind: string; [option: string]: unknown };
}

/** docs/sandbox.md, "Tables". */
export interface NewTable {
	app: string;
	timeZone?: string;
	table: {
		internalName: string;
		header?: string;
		fieldNameProperty?: 'name' | 'id';
		fields: Array<{
			name: string;
			header?: string;
			type: string;
			metadata?: Record<string, unknown>;
		}>;
		views?: Array<{ name: string; filter: string; description?: string; visibility?: string }>;
	};
	records?: Array<{ id?: string; fields: Record<string, unknown> }>;
}

export interface SandboxAdmin {
	reset(): Promise<void>;
	/** Any part of the settings; docs/sandbox.md, "Settings". */
	settings(change: Record<string, unknown>): Promise<Record<string, unknown>>;
	/** Replaces the rules; an empty list ends all faults. */
	faults(rules: FaultRule[]): Promise<void>;
	requests(): Promise<LoggedRequest[]>;
	clearRequests(): Promise<void>;
	/** Stores values that are late (`lateValuesMs`) now. */
	storeLateValues(): Promise<void>;
	/** Waits until no request is running, including those whose client has given up. */
	waitUntilIdle(): Promise<void>;
	createTable(table: NewTable): Promise<{ appId: string; tableId: string; internalName: string }>;
	records(app: string, table: string): Promise<StoredRecord[]>;
	history(app: string, table: string, record?: string): Promise<StoredVersion[]>;
	/** A workflow of the platform; its webhook is open to the workflow token. */
	createWorkflow(workflow: {
		name: string;
		script: string;
		response?: string;
	}): Promise<{ id: string; webhookUrl: string }>;
	/** The runs of all workflows, or of one. */
	workflowRuns(workflowId?: string): Promise<WorkflowRun[]>;
	clearWorkflowRuns(): Promise<void>;
	/** Returns the token's value. */
	createToken(token: Record<string, unknown>): Promise<string>;
	changeToken(name: string, change: Record<string, unknown>): Promise<void>;
	/** For endpoints without a function here: paths under `/sandbox`. */
	http: HttpClient;
}

/** The administration of a running sandbox; it throws if the sandbox rejects a request. */
export function createSandboxAdmin(
	baseUrl: string,
	{ keepAlive = true }: { keepAlive?: boolean } = {},
): SandboxAdmin {
	const http = httpClient(`${baseUrl}/sandbox`);
	// A connection that outlives the sandbox would break the first request after a restart.
	if (!keepAlive) http.defaults.httpAgent = new HttpAgent({ keepAlive });
	http.interceptors.response.use((response) => {
		if (response.status < 400) return response;
		const { method, url } = response.config;
		throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(response.data)}`);
	});
	const path = (app: string, table: string) =>
		`/tables/${encodeURIComponent(app)}/${encodeURIComponent(table)}`;
	const read = async <Data,>(url: string, params?: object) =>
		(await http.get<{ data: Data }>(url, { params })).data.data;
	return {
		http,
		async reset() {
			await http.post('/reset');
		},
		async settings(change) {
			return (await http.put<{ data: Record<string, unknown> }>('/settings', change)).data.data;
		},
		async faults(rules) {
			await http.put('/faults', rules);
		},
		requests: () => read('/requests'),
		async storeLateValues() {
			await http.post('/lateValues');
		},
		async clearRequests() {
			await http.delete('/requests');
		},
		async waitUntilIdle() {
			const isAtWork = ({ busy, outcome }: LoggedRequest) => busy || outcome === 'running';
			while ((await read<LoggedRequest[]>('/requests')).some(isAtWork)) await pause(20);
		},
		async createTable(table) {
			return (await http.post('/tables', table)).data.data;
		},
		records: (app, table) => read(`${path(app, table)}/records`),
		history: (app, table, record) => read(`${path(app, table)}/history`, { record }),
		async createWorkflow(workflow) {
			return (await http.post('/workflows', workflow)).data.data;
		},
		workflowRuns: (workflow) => read('/runs', { workflow }),
		async clearWorkflowRuns() {
			await http.delete('/runs');
		},
		async createToken(token) {
			return (await http.post('/tokens', token)).data.data.value;
		},
		async changeToken(name, change) {
			await http.patch(`/tokens/${name}`, change);
		},
	};
}

/** A client that returns the response whatever its status. */
export function httpClient(baseURL: string, headers: Record<string, string> = {}): HttpClient {
	return axios.create({
		baseURL,
		headers,
		validateStatus: () => true,
		maxRedirects: 0,
		maxBodyLength: Infinity,
		maxContentLength: Infinity,
		proxy: false,
		// The sandbox's certificate is self-signed, a new one at each start.
		httpsAgent: new Agent({ rejectUnauthorized: false }),
	});
}
