/** A signed-in user of a running n8n: what the editor does in the browser, done by code. */

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a running execution is looked at. */
const LOOK_MILLISECONDS = 200;

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
	data: { resultData: ResultData };
}

export interface Session {
	url: string;
	owner: Owner;
	/** The id of the browser that it plays; n8n binds the cookie to it. */
	browserId: string;
	/** The `Cookie` header of a signed-in request. */
	cookie(): string;
	/** Calls n8n's own REST interface; `path` starts after `/rest`. Returns the `data` part. */
	call<T>(method: string, path: string, body?: unknown): Promise<T>;
	/** Stores a credential and returns its id. */
	createCredential(credential: NewCredential): Promise<string>;
	/** Stores a workflow and returns its id. */
	createWorkflow(workflow: WorkflowJson): Promise<string>;
	/** Makes a stored workflow active: its trigger starts it from then on. */
	publish(workflowId: string): Promise<void>;
	/** Makes it inactive again. */
	unpublish(workflowId: string): Promise<void>;
	/**
	 * Starts a stored workflow at a trigger and waits until it has ended, well or not. Items stand
	 * for what the trigger would have got from outside.
	 */
	runWorkflow(workflowId: string, triggerName: string, items?: ExecutionItem[]): Promise<Execution>;
}

/** An owner for a local n8n, with a password that nobody else knows. */
export function inventOwner(): Owner {
	return {
		email: 'demo@example.com',
		// n8n wants a capital letter, a digit and eight characters.
		password: `Demo-${randomBytes(5).toString('hex')}`,
		firstName: 'Demo',
		lastName: 'User',
	};
}

/**
 * Reads n8n's form of stored execution data: a list in which every string inside an object or
 * array is the position of the value meant.
 */
export function parseExecutionData(text: string): unknown {
	const values = JSON.parse(text) as unknown[];
	const known = new Map<number, unknown>();
	const read = (position: number): unknown => {
		if (known.has(position)) return known.get(position);
		const value = values[position];
		if (typeof value !== 'object' || value === null) return value;
		const target: unknown[] | JsonObject = Array.isArray(value) ? [] : {};
		known.set(position, target);
		for (const [key, entry] of Object.entries(value)) {
			const resolved: unknown = typeof entry === 'string' ? read(Number(entry)) : entry;
			Object.assign(target, { [key]: resolved });
		}
		return target;
	};
	return read(0);
}

/** The items that a node of an execution put out, of its first run. */
export function itemsOf(
	execution: { data: { resultData: ResultData } },
	nodeName: string,
	output = 0,
): ExecutionItem[] {
	const [run] = execution.data.resultData.runData[nodeName] ?? [];
	return run?.data?.main[output] ?? [];
}

/** What an execution says about its failure; undefined when it succeeded. */
export function failureOf(execution: Execution): string | undefined {
	if (execution.status === 'success') return undefined;
	const { error, lastNodeExecuted } = execution.data.resultData;
	const details = [error?.message, error?.description].filter(Boolean).join(': ');
	return `${execution.status} at "${lastNodeExecuted ?? '?'}": ${details}`;
}

/** The workflow with its nodes using the given credential wherever they use one of its type. */
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
 * Signs in to a running n8n; makes the given person its owner when it has none yet.
 *
 * @throws Error when n8n has another owner
 */
export async function signIn(url: string, owner: Owner): Promise<Session> {
	const browserId = randomUUID();
	let cookie = '';

	const call = async <T,>(method: string, path: string, body?: unknown): Promise<T> => {
		const answer = await fetch(`${url}/rest${path}`, {
			method,
			headers: {
				'content-type': 'application/json',
				'browser-id': browserId,
				// An idle connection may be closed by n8n at the moment in which it is used again.
				connection: 'close',
				...(cookie === '' ? {} : { cookie }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await answer.text();
		if (!answer.ok) {
			throw new Error(`n8n answered ${answer.status} to ${method} ${path}: ${text.slice(0, 500)}`);
		}
		const cookies = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
		if (cookies.length > 0) cookie = cookies.join('; ');
		return (JSON.parse(text) as { data: T }).data;
	};

	const settings = await call<{ userManagement: { showSetupOnFirstLoad?: boolean } }>(
		'GET',
		'/settings',
	);
	if (settings.userManagement.showSetupOnFirstLoad === true) {
		await call('POST', '/owner/setup', owner);
	} else {
		const { email, password } = owner;
		await call('POST', '/login', { emailOrLdapLoginId: email, password });
	}

	const setActive = async (id: string, active: boolean, versionId?: string) => {
		const path = `/workflows/${id}/${active ? 'activate' : 'deactivate'}`;
		try {
			await call('POST', path, { versionId });
		} catch (error) {
			// The first releases of n8n 1.123 have no such address.
			if (!String(error).includes('answered 404')) throw error;
			await call('PATCH', `/workflows/${id}`, { active, versionId });
		}
	};

	const readExecution = async (id: string): Promise<Execution | undefined> => {
		const execution = await call<Omit<Execution, 'data'> & { data: string }>(
			'GET',
			`/executions/${id}`,
		);
		if (['new', 'running', 'waiting', 'unknown'].includes(execution.status)) return undefined;
		const data = parseExecutionData(execution.data) as Execution['data'] | undefined;
		// n8n 1 says that an execution has ended a moment before it stores what came of it.
		return data && { ...execution, data };
	};

	return {
		url,
		owner,
		browserId,
		cookie: () => cookie,
		call,
		createCredential: async (credential) =>
			(await call<{ id: string }>('POST', '/credentials', credential)).id,
		createWorkflow: async ({ name, nodes, connections, settings: workflowSettings }) => {
			// n8n 1 does not store a workflow that leaves open whether it is active.
			const body = { name, nodes, connections, settings: workflowSettings ?? {}, active: false };
			return (await call<{ id: string }>('POST', '/workflows', body)).id;
		},
		publish: async (id) => {
			const { versionId } = await call<{ versionId: string }>('GET', `/workflows/${id}`);
			await setActive(id, true, versionId);
		},
		unpublish: async (id) => await setActive(id, false),
		runWorkflow: async (workflowId, triggerName, items) => {
			const data = { startTime: 0, executionTime: 0, source: [], data: { main: [items] } };
			const started = await call<{ executionId?: string }>('POST', `/workflows/${workflowId}/run`, {
				// n8n 1 runs what it is sent; newer ones run what they have stored.
				workflowData: await call<JsonObject>('GET', `/workflows/${workflowId}`),
				triggerToStartFrom: { name: triggerName, ...(items && { data }) },
			});
			if (started.executionId === undefined) throw new Error('n8n did not start the workflow.');
			for (;;) {
				const execution = await readExecution(started.executionId);
				if (execution !== undefined) return execution;
				await sleep(LOOK_MILLISECONDS);
			}
		},
	};
}
