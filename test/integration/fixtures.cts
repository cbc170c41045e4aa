/** A sandbox with a small shop, and the node run against it by n8n's engine. */
import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { automatic, picked, runOperation, type Credential, type OperationRun, type RunResult } from '../support/engine/engine.cts';
import type { FaultRule, LoggedRequest, StoredRecord } from '../../harness/sandboxAdmin.mts';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { onVirtualClock } from '../property/matrix/virtualClock.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';

export const APP = 'shop';

/** Orders have an import key, their number; notes have none. */
const orders = {
	internalName: 'orders',
	header: 'Orders',
	fields: [
		{ name: 'number', type: 'text', metadata: { importKey: true } },
		{ name: 'buyer', type: 'text', metadata: { required: true, maxLength: 30 } },
		{ name: 'price', type: 'decimal', metadata: { min: 0 } },
		{ name: 'state', type: 'dropdown', metadata: { items: ['open', 'sent'].map((value, order) => ({ value, order })) } },
		{ name: 'comment', type: 'long_text' },
		{ name: 'tags', type: 'chips' },
		{ name: 'channels', type: 'dropdownmulti', metadata: { items: ['mail', 'web'].map((value, order) => ({ value, order })) } },
		{ name: 'related', type: 'schema_link', metadata: { linkTableId: 'orders', multiple: true } },
		{ name: 'label', type: 'calculated', metadata: { template: '{number}: {buyer}' } },
	],
	views: [{ name: 'Open', filter: 'state(eq)open' }],
};

const notes = {
	internalName: 'notes',
	header: 'Notes',
	fields: [
		{ name: 'text', type: 'text', metadata: { required: true } },
		{ name: 'rank', type: 'number' },
	],
};

export interface Run extends Omit<OperationRun, 'parameters'> {
	table?: string;
	parameters?: object;
	options?: IDataObject;
	credential?: Partial<Credential>;
}

export type OnError = NonNullable<OperationRun['onError']>;

/** Operations that map the item's values to fields. */
const WRITES = /^(create|sync|update|upsert)/;

/** The parameters of a record operation on a table of the shop, mapped automatically. */
export const recordParameters = (operation: string, { table = 'orders', parameters = {}, options = {} }: Run = {}) => ({
	resource: 'record',
	operation,
	application: picked(APP),
	table: picked(table),
	...(WRITES.test(operation) && { columns: automatic }),
	options,
	...parameters,
});

/** The node's timeout on a virtual clock, if the user sets none. */
const TIMEOUT_S = 30;

export class TestHarness {
	private started?: RunningSandbox;

	constructor(private readonly keepsTime = false) {}

	get sandbox(): RunningSandbox {
		if (!this.started) throw new Error('The sandbox has not been started yet');
		return this.started;
	}

	get credential(): Credential {
		return { baseUrl: this.sandbox.baseUrl, token: this.sandbox.tokens.role };
	}

	async start() {
		this.started = await sharedSandbox();
	}

	/** Empty tables, no faults, default settings. */
	async reset() {
		await this.sandbox.admin.reset();
		await this.createTables();
	}

	async createTables() {
		const { admin } = this.sandbox;
		await admin.createTable({ app: APP, table: orders });
		await admin.createTable({ app: APP, table: notes });
		await admin.clearRequests();
	}

	/** Stores records before the run. */
	async fill(table: 'orders' | 'notes', ...records: IDataObject[]): Promise<StoredRecord[]> {
		await this.sandbox.admin.createTable({
			app: APP,
			table: table === 'orders' ? orders : notes,
			records: records.map((fields) => ({ fields })),
		});
		await this.sandbox.admin.clearRequests();
		return await this.records(table);
	}

	faults(...rules: FaultRule[]) {
		return this.sandbox.admin.faults(rules);
	}

	settings(change: Record<string, unknown>) {
		return this.sandbox.admin.settings(change);
	}

	/** Runs a record operation of the node. */
	async run(operation: string, run: Run = {}): Promise<RunResult> {
		const execute = async () =>
			await runOperation({ ...this.credential, ...run.credential }, { ...run, parameters: recordParameters(operation, run) });
		return this.keepsTime ? await execute() : await onVirtualClock(TIMEOUT_S, execute);
	}

	records(table = 'orders'): Promise<StoredRecord[]> {
		return this.sandbox.admin.records(APP, table);
	}

	/** The values of one field, in the order of creation. */
	async values(field: string, table = 'orders'): Promise<unknown[]> {
		return (await this.records(table)).map(({ fields }) => fields[field]);
	}

	requests(): Promise<LoggedRequest[]> {
		return this.sandbox.admin.requests();
	}

	/** The requests that could have written something. */
	async writes(): Promise<LoggedRequest[]> {
		const isRead = ({ method, path }: LoggedRequest) => method === 'GET' || path.endsWith('/filter');
		return (await this.requests()).filter((request) => !isRead(request));
	}
}

/**
 * The shop of a test file, emptied before each test. The time between a record operation's attempts
 * passes at once, except with `keepsTime`.
 */
export function useHarness({ keepsTime = false } = {}): TestHarness {
	const shop = new TestHarness(keepsTime);
	beforeAll(async () => await shop.start());
	beforeEach(async () => await shop.reset());
	return shop;
}

/** Changes in the same millisecond have no order, and are read again. */
export async function nextMillisecond() {
	const now = Date.now();
	while (Date.now() <= now) await pause(1);
}

/** An item as a faulty node returns it. */
export const withoutJson = {} as INodeExecutionData;

/** Orders with the numbers `1` to `count`. */
export const numbered = (count: number, more: IDataObject = {}): IDataObject[] =>
	Array.from({ length: count }, (_, index) => ({ number: String(index + 1), buyer: `Buyer ${index + 1}`, ...more }));

export const outcomes = (result: RunResult) =>
	result.json().map((json) => json.outcome ?? (json.details as IDataObject | undefined)?.outcome);

/** The input item that each output item comes from. */
export const pairedIndexes = (items: INodeExecutionData[]) => items.map(({ pairedItem }) => (pairedItem as { item: number }).item);

/** Checks that an error item has the shape that n8n routes, and nothing else. */
export function expectErrorItem(
	{ json, pairedItem }: INodeExecutionData,
	index: number,
	error: string | RegExp,
	details: IDataObject = {},
) {
	expect(Object.keys(json).filter((key) => !['error', 'message', 'details'].includes(key))).toEqual([]);
	expect(json.error).toEqual(typeof error === 'string' ? expect.stringContaining(error) : expect.stringMatching(error));
	expect(json.details).toMatchObject({ item: index, ...details });
	expect(pairedItem).toEqual({ item: index });
}
