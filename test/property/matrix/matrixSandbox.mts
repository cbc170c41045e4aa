/** The sandbox of the matrix: its tables, its workflow, and the truth after a run. */
import type { FaultRule, NewTable, StoredRecord, WorkflowRun } from '../../../harness/sandboxAdmin.mts';
import { APP, TABLE } from '../faults/constants.mts';
import { plainPlatform, type Platform } from '../faults/platform.mts';
import { SandboxSlot, type Truth as RunTruth } from '../faults/sandboxSlot.mts';

/** What the sandbox knows after a run. */
export interface Truth extends RunTruth {
	before: StoredRecord[];
	workflowRuns: WorkflowRun[];
	/** Whether values that the node passes on were changed on their way to it. */
	payloadAltered: boolean;
	/** Whether the kind of success of an item can't be seen; set for one item at a time. */
	isKindHidden?: boolean;
	/** Whether all fields of a record were replaced on their way to the node. */
	fieldsReplaced: boolean;
}

const fieldsOf = (isKeyed: boolean): NewTable['table']['fields'] => [
	{ name: 'code', type: 'text', metadata: { importKey: isKeyed } },
	{ name: 'name', type: 'text', metadata: { required: true } },
	{ name: 'group', type: 'text' },
	{ name: 'size', type: 'number' },
	{ name: 'papers', type: 'file' },
	{ name: 'photo', type: 'picture' },
];

export class MatrixSandbox extends SandboxSlot {
	#before: StoredRecord[] = [];
	#hasWorkflow = false;
	/** What the contract leaves open about the platform, for all runs from now on. */
	platform: Platform = plainPlatform;

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

	override async begin(rules: FaultRule[]): Promise<void> {
		const { admin } = this.sandbox;
		this.#before = await admin.records(APP, TABLE);
		await admin.settings(this.platform.pageCaps);
		await super.begin(rules);
	}

	/** Pages are complete until the run begins: the expected values are read before. */
	async #setUp(): Promise<void> {
		await this.sandbox.admin.settings({ ...this.platform.precision, ...plainPlatform.pageCaps });
	}

	override async truth(): Promise<Truth> {
		const truth = await super.truth();
		const workflowRuns = this.#hasWorkflow ? await this.sandbox.admin.workflowRuns() : [];
		this.#hasWorkflow = false;
		return { ...truth, before: this.#before, workflowRuns, payloadAltered: false, fieldsReplaced: false };
	}
}
