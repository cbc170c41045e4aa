/** A client of a running n8n's internal REST API, which its editor uses, as a signed-in user. */

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often the status of a running execution is read. */
const POLL_INTERVAL_MS = 200;

export interface Owner {
	email: string;
	password: string;
	firstName: string;
	lastName: string;
}

export type JsonObject = Record<string, unknown>;

export interface NewCredential {
	name: string;
	/** The credential's type, such as `dataPlatformApi`. */
	type: string;
	data: JsonObject;
}

export interface WorkflowNode {
	id: string;
	name: string;
	type: string;
	typeVersion: number;
	position: [number, number];
	parameters: JsonObject;
	credentials?: Record<string, { id: string | null; name: string }>;
	onError?: string;
	[setting: string]: unknown;
}

/** A workflow as n8n exports it. */
export interface WorkflowJson {
	id?: string;
	name: string;
	nodes: WorkflowNode[];
	connections: JsonObject;
	settings?: JsonObject;
	/** Output that the editor uses instead of running a node, by the node's name. */
	pinData?: JsonObject;
}

export interface ExecutionItem {
	json: JsonObject;
	pairedItem?: unknown;
}

export interface NodeRun {
	executionStatus: string;
	executionTime: number;
	error?: { message: string; description?: string | null };
	data?: { main: Array<ExecutionItem[] | null> };
}

export interface ResultData {
	runData: Record<string, NodeRun[]>;
	error?: { message: string; description?: string | null };
	lastNodeExecuted?: string;
}

/** A finished execution. */
export interface Execution {
	id: string;
	/** `success`, `error`, `crashed` or `canceled`. */
	status: string;
	startedAt: string;
	stoppedAt: string;
	data: ExecutionData;
}

export interface ExecutionData {
	/** What was still to be run when the execution was stored. */
	executionData?: {
		nodeExecutionStack: Array<{
			node: { name: string };
			data: { main: Array<ExecutionItem[] | null> };
		}>;
	};
	resultData: ResultData;
}

export interface N8nApi {
	url: string;
	owner: Owner;
	/** The browser id that is sent; n8n binds the cookie to it. */
	browserId: string;
	/** The `Cookie` header of a signed-in request. */
	cookie(): string;
	/** Sends a request; `path` starts after `/rest`. Returns `data` of the response. */
	request<T>(method: string, path: string, body?: unknown): Promise<T>;
	/** Stores a credential and returns its id. */
	createCredential(credential: NewCredential): Promise<string>;
	/** Stores a workflow and returns its id. */
	createWorkflow(workflow: WorkflowJson): Promise<string>;
	/** Activates a stored workflow, so that its trigger starts it from then on. */
	publish(workflowId: string): Promise<void>;
	/** Deactivates it. */
	unpublish(workflowId: string): Promise<void>;
	/** Starts a stored workflow at a trigger, with the items instead of its output; returns the execution's id. */
	startWorkflow(workflowId: string, triggerName: string, items?: ExecutionItem[]): Promise<string>;
	/** Starts a stored workflow and waits until it has ended, successfully or not. */
	runWorkflow(workflowId: string, triggerName: string, items?: ExecutionItem[]): Promise<Execution>;
	/** What the nodes have done so far in an execution that may still run or wait. */
	readRunData(executionId: string): Promise<ResultData['runData']>;
	/** The URL of a form that a workflow's execution is waiting for; undefined if there is none. */
	waitingForm(workflowId: string): Promise<string | undefined>;
	/** An execution that has ended; undefined if it has not ended yet. */
	readExecution(executionId: string): Promise<Execution | undefined>;
}

/** An owner account for a local n8n, with a random password. */
export function createOwner(): Owner {
	return {
		email: 'demo@example.com',
		// n8n requires a capital letter, a digit and eight characters.
		password: `Demo-${randomBytes(5).toString('hex')}`,
		firstName: 'Demo',
		lastName: 'User',
	};
}

/**
 * Parses n8n's stored execution data: an array in which every string inside an object or array is
 * the position of the actual value.
 */
export function parseExecutionData(text: string): unknown {
	const values = JSON.parse(text) as unknown[];
	const resolved = new Map<number, unknown>();
	const read = (position: number): unknown => {
		if (resolved.has(position)) return resolved.get(position);
		const value = values[position];
		if (typeof value !== 'object' || value === null) return value;
		const target: unknown[] | JsonObject = Array.isArray(value) ? [] : {};
		resolved.set(position, target);
		for (const [key, entry] of Object.entries(value)) {
			const resolved: unknown = typeof entry === 'string' ? read(Number(entry)) : entry;
			Object.assign(target, { [key]: resolved });
		}
		return target;
	};
	return read(0);
}

/** The items that a node returned in its first run. */
export function outputItems(
	execution: { data: { resultData: ResultData } },
	nodeName: string,
	output = 0,
): ExecutionItem[] {
	const [run] = execution.data.resultData.runData[nodeName] ?? [];
	return run?.data?.main[output] ?? [];
}

/** The items that a trigger started an execution with, however far the execution got. */
export function startItems(
	{ executionData, resultData }: ExecutionData,
	triggerName: string,
): ExecutionItem[] {
	// The stack first: in an execution that died, n8n may have added an output that the trigger never
	// had.
	const waiting = executionData?.nodeExecutionStack.find(({ node }) => node.name === triggerName);
	const ran = resultData.runData?.[triggerName]?.at(-1)?.data;
	return (waiting?.data ?? ran)?.main[0] ?? [];
}

/** An execution's status and error as text; undefined if it succeeded. */
export function describeFailure(execution: Execution): string | undefined {
	if (execution.status === 'success') return undefined;
	const { error, lastNodeExecuted } = execution.data.resultData;
	const details = [error?.message, error?.description].filter(Boolean).join(': ');
	return `${execution.status} at "${lastNodeExecuted ?? '?'}": ${details}`;
}

/** The workflow with the given credential in every node that uses one of its type. */
export function withCredential(
	workflow: WorkflowJson,
	type: string,
	credential: { id: string; name: string },
): WorkflowJson {
	const nodes = workflow.nodes.map((node) =>
		node.credentials?.[type] === undefined
			? node
			: { ...node, credentials: { ...node.credentials, [type]: credential } },
	);
	return { ...workflow, nodes };
}

/**
 * Signs in to a running n8n; sets it up with the given owner if it has none yet.
 *
 * @throws Error if n8n has another owner
 */
export async function signIn(url: string, owner: Owner): Promise<N8nApi> {
	const browserId = randomUUID();
	let cookie = '';

	const request = async <T,>(method: string, path: string, body?: unknown): Promise<T> => {
		const response = await fetch(`${url}/rest${path}`, {
			method,
			headers: {
				'content-type': 'application/json',
				'browser-id': browserId,
				// n8n may close an idle connection just when it is used again.
				connection: 'close',
				...(cookie === '' ? {} : { cookie }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) {
			throw new Error(`${method} ${path}: n8n returned ${response.status}: ${text.slice(0, 500)}`);
		}
		const cookies = response.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
		if (cookies.length > 0) cookie = cookies.join('; ');
		return (JSON.parse(text) as { data: T }).data;
	};

	try {
		await request('POST', '/owner/setup', owner);
	} catch (error) {
		if (!String(error).includes('already setup')) throw error;
		const { email, password } = owner;
		await request('POST', '/login', { emailOrLdapLoginId: email, password });
	}

	const setActive = async (id: string, active: boolean, versionId?: string) => {
		const path = `/workflows/${id}/${active ? 'activate' : 'deactivate'}`;
		try {
			await request('POST', path, { versionId });
		} catch (error) {
			// The first releases of n8n 1.123 do not have this endpoint.
			if (!String(error).includes('returned 404')) throw error;
			await request('PATCH', `/workflows/${id}`, { active, versionId });
		}
	};

	const readExecution = async (id: string): Promise<Execution | undefined> => {
		const execution = await request<Omit<Execution, 'data'> & { data: string }>(
			'GET',
			`/executions/${id}`,
		);
		if (['new', 'running', 'waiting', 'unknown'].includes(execution.status)) return undefined;
		const data = parseExecutionData(execution.data) as Execution['data'] | undefined;
		// n8n 1 reports the end of an execution shortly before it stores the result. Until then there
		// is no result or, if the execution has waited, one from before the wait, with nodes still to
		// run.
		const isOpen = (data?.executionData?.nodeExecutionStack.length ?? 0) > 0;
		const isStored = data && !(execution.status === 'success' && isOpen);
		return isStored ? { ...execution, data } : undefined;
	};

	const startWorkflow: N8nApi['startWorkflow'] = async (workflowId, triggerName, items) => {
		const data = { startTime: 0, executionTime: 0, source: [], data: { main: [items] } };
		const started = await request<{ executionId?: string }>(
			'POST',
			`/workflows/${workflowId}/run`,
			{
				// n8n 1 runs the workflow in the request; newer versions run the stored one.
				workflowData: await request<JsonObject>('GET', `/workflows/${workflowId}`),
				triggerToStartFrom: { name: triggerName, ...(items && { data }) },
			},
		);
		if (started.executionId === undefined) throw new Error('n8n did not start the workflow.');
		return started.executionId;
	};

	return {
		url,
		owner,
		browserId,
		cookie: () => cookie,
		request,
		createCredential: async (credential) =>
			(await request<{ id: string }>('POST', '/credentials', credential)).id,
		createWorkflow: async ({ name, nodes, connections, pinData, settings: workflowSettings }) => {
			// n8n 1 does not store a workflow without `active`.
			const settings = workflowSettings ?? {};
			const body = { name, nodes, connections, pinData, settings, active: false };
			return (await request<{ id: string }>('POST', '/workflows', body)).id;
		},
		publish: async (id) => {
			const { versionId } = await request<{ versionId: string }>('GET', `/workflows/${id}`);
			await setActive(id, true, versionId);
		},
		unpublish: async (id) => await setActive(id, false),
		readExecution,
		readRunData: async (executionId) => {
			const { data } = await request<{ data: string }>('GET', `/executions/${executionId}`);
			const stored = parseExecutionData(data) as { resultData?: ResultData } | undefined;
			return stored?.resultData?.runData ?? {};
		},
		waitingForm: async (workflowId) => {
			const filter = encodeURIComponent(JSON.stringify({ workflowId, status: ['waiting'] }));
			const { results } = await request<{ results: Array<{ id: string }> }>(
				'GET',
				`/executions?filter=${filter}`,
			);
			const [waiting] = results;
			if (!waiting) return undefined;
			const { data } = await request<{ data: string }>('GET', `/executions/${waiting.id}`);
			const { resumeToken } = parseExecutionData(data) as { resumeToken?: string };
			// n8n 1 has no token.
			const query = resumeToken === undefined ? '' : `?signature=${resumeToken}`;
			return `${url}/form-waiting/${waiting.id}${query}`;
		},
		startWorkflow,
		runWorkflow: async (workflowId, triggerName, items) => {
			const id = await startWorkflow(workflowId, triggerName, items);
			for (;;) {
				const execution = await readExecution(id);
				if (execution !== undefined) return execution;
				await sleep(POLL_INTERVAL_MS);
			}
		},
	};
}
