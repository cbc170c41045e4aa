/** A sandbox process of its own for one run at a time: what is set up before, what is true after. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
	FaultRule,
	LoggedRequest,
	NewTable,
	RunningSandbox,
	StoredRecord,
	StoredVersion,
} from './engine.mts';

export const APP = 'shop';
export const TABLE = 'things';

/** A run of a workflow of the platform. */
export interface WorkflowRun {
	id: string;
	payload: Record<string, unknown>;
}

/** What the sandbox knows after a run. */
export interface Truth {
	before: StoredRecord[];
	records: StoredRecord[];
	/** The versions that the run wrote. */
	written: StoredVersion[];
	requests: LoggedRequest[];
	workflowRuns: WorkflowRun[];
	/** Whether values that the node hands on as they are were changed on their way to it. */
	payloadAltered: boolean;
}

export const idOf = (number: number) =>
	`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const fieldsOf = (isKeyed: boolean): NewTable['table']['fields'] => [
	{ name: 'code', type: 'text', metadata: { importKey: isKeyed } },
	{ name: 'name', type: 'text', metadata: { required: true } },
	{ name: 'group', type: 'text' },
	{ name: 'size', type: 'number' },
	{ name: 'papers', type: 'file' },
	{ name: 'photo', type: 'picture' },
];

export class SandboxSlot {
	readonly sandbox: RunningSandbox;
	#before: StoredRecord[] = [];
	#hasWorkflow = false;

	constructor(sandbox: RunningSandbox) {
		this.sandbox = sandbox;
	}

	get credential() {
		return { baseUrl: this.sandbox.baseUrl, token: this.sandbox.tokens.role };
	}

	/** Makes the table anew. */
	async createTable(records: NonNullable<NewTable['records']>, isKeyed = true): Promise<void> {
		await this.#admin('POST', '/tables', {
			app: APP,
			timeZone: 'Europe/Berlin',
			table: { internalName: TABLE, fields: fieldsOf(isKeyed) },
			records,
		});
	}

	/** Makes a workflow that does nothing; its webhook URL. */
	async createWorkflow(): Promise<string> {
		await this.#admin('DELETE', '/runs');
		const workflow = { name: 'Under test', script: 'return 1;', response: 'accepted' };
		const made = (await this.#admin('POST', '/workflows', workflow)) as {
			webhookUrl: string;
		};
		this.#hasWorkflow = true;
		// The node sees the platform where its credential says that it is.
		return made.webhookUrl.replace(this.sandbox.baseUrl, this.credential.baseUrl);
	}

	/** What the platform answers to a client of another kind, in `data`. */
	async readFromPlatform(path: string): Promise<unknown> {
		return await this.requestAsOtherClient('GET', path);
	}

	/** A request of another client than the node. */
	async requestAsOtherClient(method: string, path: string, body?: object): Promise<unknown> {
		return await this.#send(method, `/api/v2${path}`, body);
	}

	/** From here on all is the run's. */
	async begin(rules: FaultRule[]): Promise<void> {
		this.#before = (await this.#admin('GET', `/tables/${APP}/${TABLE}/records`)) as StoredRecord[];
		await this.#admin('DELETE', '/requests');
		await this.#admin('PUT', '/faults', rules);
	}

	/** What is true once every request has come to its end, those that nobody waits for too. */
	async truth(): Promise<Truth> {
		const log = async () => (await this.#admin('GET', '/requests')) as LoggedRequest[];
		let requests = await log();
		while (requests.some(({ busy, outcome }) => busy || outcome === 'running')) {
			await sleep(20);
			requests = await log();
		}
		await this.#admin('DELETE', '/faults');
		const numbers = new Set(requests.map(({ number }) => number));
		const at = `/tables/${APP}/${TABLE}`;
		const history = (await this.#admin('GET', `${at}/history`)) as StoredVersion[];
		const workflowRuns = this.#hasWorkflow ? await this.#admin('GET', '/runs') : [];
		this.#hasWorkflow = false;
		return {
			before: this.#before,
			records: (await this.#admin('GET', `${at}/records`)) as StoredRecord[],
			written: history.filter(({ request }) => numbers.has(request)),
			requests,
			workflowRuns: workflowRuns as WorkflowRun[],
			payloadAltered: false,
		};
	}

	async #admin(method: string, path: string, body?: object): Promise<unknown> {
		return await this.#send(method, `/sandbox${path}`, body);
	}

	/** The answer's `data`. */
	async #send(method: string, path: string, body?: object): Promise<unknown> {
		const { token } = this.credential;
		const response = await fetch(`${this.sandbox.baseUrl}${path}`, {
			method,
			headers: {
				authorization: `Bearer ${token}`,
				...(body && { 'content-type': 'application/json' }),
			},
			...(body && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text === '' ? undefined : (JSON.parse(text) as { data: unknown }).data;
	}
}
