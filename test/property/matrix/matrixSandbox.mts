/** A sandbox for one run at a time: prepares it, and returns the truth afterwards. */
import type { FaultRule, LoggedRequest, NewTable, StoredRecord, StoredVersion, WorkflowRun } from '../../../harness/sandboxAdmin.mts';
import type { ConnectedSandbox } from '../../../harness/sandboxProcess.mts';

import { waitForLate } from '../faults/faults.mts';
import { OTHER_WRITER } from '../faults/constants.mts';
import { plainPlatform, type Platform } from '../faults/platform.mts';

export const APP = 'shop';
export const TABLE = 'things';

/** What the sandbox knows after a run. */
export interface Truth {
	before: StoredRecord[];
	records: StoredRecord[];
	/** Every version since the start, including those of another writer. */
	history: StoredVersion[];
	/** The versions that the run wrote. */
	written: StoredVersion[];
	/** Without those of another writer. */
	requests: LoggedRequest[];
	/** Whether another writer wrote something. */
	isOtherMet: boolean;
	workflowRuns: WorkflowRun[];
	/** Whether values that the node passes on were changed on their way to it. */
	payloadAltered: boolean;
	/** Whether the kind of success of an item can't be seen; set for one item at a time. */
	isKindHidden?: boolean;
	/** Whether all fields of a record were replaced on their way to the node. */
	fieldsReplaced: boolean;
}

export const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const fieldsOf = (isKeyed: boolean): NewTable['table']['fields'] => [
	{ name: 'code', type: 'text', metadata: { importKey: isKeyed } },
	{ name: 'name', type: 'text', metadata: { required: true } },
	{ name: 'group', type: 'text' },
	{ name: 'size', type: 'number' },
	{ name: 'papers', type: 'file' },
	{ name: 'photo', type: 'picture' },
];

export class MatrixSandbox {
	readonly sandbox: ConnectedSandbox;
	#rules: FaultRule[] = [];
	#before: StoredRecord[] = [];
	#hasWorkflow = false;
	#otherToken: Promise<string> | undefined;
	/** What the contract leaves open about the platform, for all runs from now on. */
	platform: Platform = plainPlatform;

	constructor(sandbox: ConnectedSandbox) {
		this.sandbox = sandbox;
	}

	get credential() {
		return { baseUrl: this.sandbox.baseUrl, token: this.sandbox.tokens.role };
	}

	/** Replaces the table. */
	async createTable(
		records: NonNullable<NewTable['records']>,
		isKeyed = true,
		moreFields: NewTable['table']['fields'] = [],
	): Promise<void> {
		await this.#setUp();
		await this.sandbox.admin.createTable({
			app: APP,
			timeZone: 'Europe/Berlin',
			table: { internalName: TABLE, fields: [...fieldsOf(isKeyed), ...moreFields] },
			records,
		});
	}

	/** Replaces the table, and the one that its field `team` links to. */
	async createLinkedTables(records: NonNullable<NewTable['records']>, teams: NonNullable<NewTable['records']>): Promise<void> {
		await this.#setUp();
		await this.sandbox.admin.createTable({
			app: APP,
			table: { internalName: 'teams', fields: [{ name: 'name', type: 'text', metadata: { importKey: true } }] },
			records: teams,
		});
		const team = { name: 'team', type: 'schema_link', metadata: { linkTableId: 'teams' } };
		await this.createTable(records, true, [team]);
	}

	/** The token of another writer. */
	async otherToken(): Promise<string> {
		this.#otherToken ??= this.sandbox.admin.createToken({
			name: OTHER_WRITER,
			type: 'role',
			permissions: [{ app: APP, table: '*', allow: ['structure', 'create', 'update', 'delete'] }],
		});
		return await this.#otherToken;
	}

	/** Creates a workflow that does nothing, and returns its webhook URL. */
	async createWorkflow(): Promise<string> {
		const { admin, baseUrl } = this.sandbox;
		await admin.clearWorkflowRuns();
		const { webhookUrl } = await admin.createWorkflow({ name: 'Under test', script: 'return 1;', response: 'accepted' });
		this.#hasWorkflow = true;
		// The node sees the platform at the URL in its credential.
		return webhookUrl.replace(baseUrl, this.credential.baseUrl);
	}

	/** The `data` that the platform returns to another client. */
	async readFromPlatform(path: string): Promise<unknown> {
		return await this.requestAsOtherClient('GET', path);
	}

	/** A request by another client. */
	async requestAsOtherClient(method: string, path: string, body?: object): Promise<unknown> {
		const { status, data } = await this.sandbox.client().request<{ data?: unknown }>({ method, url: path, data: body });
		if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
		return data.data;
	}

	/** From here on, everything in the log belongs to the run. */
	async begin(rules: FaultRule[]): Promise<void> {
		const { admin } = this.sandbox;
		this.#before = await admin.records(APP, TABLE);
		await admin.settings(this.platform.pageCaps);
		await admin.clearRequests();
		await admin.faults(rules);
		this.#rules = rules;
	}

	/** Pages are complete until the run begins: the expected values are read before. */
	async #setUp(): Promise<void> {
		await this.sandbox.admin.settings({ ...this.platform.precision, ...plainPlatform.pageCaps });
	}

	/** The truth once every request has ended, including those whose client has given up. */
	async truth(): Promise<Truth> {
		const { admin } = this.sandbox;
		await admin.waitUntilIdle();
		await waitForLate(this.#rules);
		const all = await admin.requests();
		const requests = all.filter(({ token }) => token !== OTHER_WRITER);
		await admin.faults([]);
		const numbers = new Set(requests.map(({ number }) => number));
		const others = new Set(all.filter((entry) => !requests.includes(entry)).map((entry) => entry.number));
		const versions = await admin.history(APP, TABLE);
		const history = versions.filter(({ request }) => numbers.has(request) || others.has(request));
		const workflowRuns = this.#hasWorkflow ? await admin.workflowRuns() : [];
		this.#hasWorkflow = false;
		return {
			before: this.#before,
			records: await admin.records(APP, TABLE),
			history,
			isOtherMet: history.some(({ request }) => others.has(request)),
			written: history.filter(({ request }) => numbers.has(request)),
			requests,
			workflowRuns,
			payloadAltered: false,
			fieldsReplaced: false,
		};
	}
}
