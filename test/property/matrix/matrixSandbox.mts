/** The sandbox of the matrix: its tables, its workflow, and the truth after a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule, NewTable, StoredRecord, WorkflowRun } from '../../../harness/sandboxAdmin.mts';
import { APP, idOf, TABLE } from '../faults/constants.mts';
import { plainPlatform, type Platform } from '../faults/platform.mts';
import { defaultReadings, usualPlatform, type VariantCase } from './variantCases.mts';
import { SandboxSlot, type Truth as RunTruth } from '../faults/sandboxSlot.mts';

/** What the sandbox knows after a run. */
export interface Truth extends RunTruth {
	before: StoredRecord[];
	workflowRuns: WorkflowRun[];
	/** Whether values that the node passes on were changed on their way to it. */
	payloadAltered: boolean;
	/** Records get their values some time after the response. */
	areValuesLate: boolean;
	/** Definitions do not mark the import key. */
	isKeyUnmarked: boolean;
	/** Whether the kind of success of an item can't be seen; set for one item at a time. */
	isKindHidden?: boolean;
	/** Whether the look-up of the records' order may have failed. */
	mayLackId?: boolean;
	/** Whether all fields of a record were replaced on their way to the node. */
	fieldsReplaced: boolean;
	/** The fields whose type the node may not have read: automatic mapping leaves them out, and says so. */
	untyped: string[];
}

const fieldsOf = (isKeyed: boolean): NewTable['table']['fields'] => [
	{ name: 'code', type: 'text', metadata: { importKey: isKeyed } },
	{ name: 'name', type: 'text', metadata: { required: true } },
	{ name: 'group', type: 'text' },
	{ name: 'size', type: 'number' },
	{ name: 'due', type: 'date' },
	{ name: 'seen', type: 'datetime' },
	{ name: 'team', type: 'schema_link', metadata: { linkTableId: 'teams' } },
	{ name: 'mates', type: 'schema_link', metadata: { linkTableId: 'teams', multiple: true } },
	{ name: 'label', type: 'calculated', metadata: { template: '{code} {name}' } },
	{ name: 'papers', type: 'file' },
	{ name: 'photo', type: 'picture' },
];

/** The record of the table `teams` that every run has. */
export const TEAM = { id: idOf(500), fields: { name: 'red' } };

export class MatrixSandbox extends SandboxSlot {
	#before: StoredRecord[] = [];
	#hasWorkflow = false;
	#hasTeams = false;
	/** What the contract leaves open about the platform, for all runs from now on. */
	platform: Platform = plainPlatform;

	/** The readings of what is unknown about the platform, for the same runs. */
	readings: VariantCase = usualPlatform;

	/** Replaces the table, and the one that its links point to. */
	async createTable(
		records: NonNullable<NewTable['records']>,
		isKeyed = true,
		moreFields: NewTable['table']['fields'] = [],
		addsTeams = false,
	): Promise<void> {
		const { admin } = this.sandbox;
		// Pages are complete until the run begins: the expected values are read before.
		await admin.settings({ ...this.platform.precision, ...plainPlatform.pageCaps, ...defaultReadings, ...this.readings.settings });
		if (!this.#hasTeams) {
			await admin.createTable({
				app: APP,
				table: { internalName: 'teams', fields: [{ name: 'name', type: 'text', metadata: { importKey: true } }] },
				records: [TEAM],
			});
		}
		// Runs that link by name add teams.
		this.#hasTeams = !addsTeams;
		await admin.createTable({
			app: APP,
			timeZone: 'Europe/Berlin',
			table: { internalName: TABLE, fields: [...fieldsOf(isKeyed), ...moreFields] },
			records,
		});
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

	/** The `data` that the platform returns to another client, with URLs as the node sees them. */
	async readFromPlatform(path: string): Promise<unknown> {
		const data = JSON.stringify(await this.requestAsOtherClient('GET', path));
		return JSON.parse(data.replaceAll(this.sandbox.baseUrl, this.credential.baseUrl)) as unknown;
	}

	override async begin(rules: FaultRule[]): Promise<void> {
		const { admin } = this.sandbox;
		this.#before = await admin.records(APP, TABLE);
		await admin.settings({ ...this.platform.pageCaps, ...this.readings.limits });
		await super.begin(rules);
	}

	/** The option that names the key, if the definition does not mark it. */
	get importKey() {
		return this.readings.settings.definition === 'documented' ? { importKey: 'code' } : {};
	}

	/** Which variants the run has met, by the names of their settings. */
	async metVariants(): Promise<string[]> {
		const { data } = await this.sandbox.admin.http.get<{ data: Array<{ setting: string; isMet: boolean }> }>('/variants');
		return data.data.flatMap(({ setting, isMet }) => (isMet ? [setting] : []));
	}

	override async truth(): Promise<Truth> {
		// Late values belong to the run.
		await sleep(Number(this.readings.settings.lateValuesMs ?? 0) * 4);
		const truth = await super.truth();
		const workflowRuns = this.#hasWorkflow ? await this.sandbox.admin.workflowRuns() : [];
		this.#hasWorkflow = false;
		return {
			...truth,
			before: this.#before,
			workflowRuns,
			payloadAltered: false,
			areValuesLate: this.readings.settings.lateValuesMs !== undefined,
			isKeyUnmarked: this.readings.settings.definition === 'documented',
			fieldsReplaced: false,
			untyped: [],
		};
	}
}
