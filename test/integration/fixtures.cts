/** Sandboxes with tables, and the node run against them by n8n's engine. */
import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { automatic, picked, runOperation, type Credential, type OperationRun, type RunResult } from '../support/engine/engine.cts';
import type { FaultRule, LoggedRequest, NewTable, StoredRecord } from '../../harness/sandboxAdmin.mts';
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
	application?: string;
	table?: string;
	parameters?: object;
	options?: IDataObject;
	credential?: Partial<Credential>;
}

export type OnError = NonNullable<OperationRun['onError']>;

/** Operations that map the item's values to fields. */
const WRITES = /^(create|sync|update|upsert)/;

/** The parameters of a record operation, mapped automatically. The table is the shop's orders if none is named. */
export const recordParameters = (
	operation: string,
	{ application = APP, table = 'orders', parameters = {}, options = {} }: Run = {},
): INodeParameters => ({
	resource: 'record',
	operation,
	application: picked(application),
	table: picked(table),
	...(WRITES.test(operation) && { columns: automatic }),
	options: options as INodeParameters,
	...parameters,
});

/** Runs a record operation on any platform. */
export const runRecord = async (credential: Credential, operation: string, run: Run = {}): Promise<RunResult> =>
	await runOperation({ ...credential, ...run.credential }, { isOrderShown: true, ...run, parameters: recordParameters(operation, run) });

/** Starts a workflow of any platform with the node. */
export const startWorkflow = async (credential: Credential, webhookUrl: string, { parameters, options = {}, ...run }: Run = {}) =>
	await runOperation(
		{ ...credential, ...run.credential },
		{ ...run, parameters: { resource: 'workflow', operation: 'trigger', webhookUrl, options, ...parameters } },
	);

/** The node's timeout on a virtual clock, if the user sets none. */
const TIMEOUT_S = 30;

/** Runs operations so that the time between a request's attempts passes at once. */
export const withoutWaits = async <Result,>(work: () => Promise<Result>) => await onVirtualClock(TIMEOUT_S, work);

interface Place {
	application: string;
	/** The table if a test names none. */
	table: string;
	/** With the demo data. */
	seeded?: boolean;
	/** The time between a record operation's attempts passes as for users. */
	keepsTime?: boolean;
}

/** An application of a sandbox: the node run on it, what it stores, and another client of it. */
export class TestHarness {
	private started?: RunningSandbox;

	constructor(private readonly place: Place) {}

	get sandbox(): RunningSandbox {
		if (!this.started) throw new Error('The sandbox has not been started yet');
		return this.started;
	}

	get credential(): Credential {
		return { baseUrl: this.sandbox.baseUrl, token: this.sandbox.tokens.role };
	}

	async start() {
		this.started = await sharedSandbox({ seeded: this.place.seeded });
	}

	/** No faults, default settings, no tables or the demo data. */
	async reset() {
		await this.sandbox.admin.reset();
	}

	/** Runs a record operation of the node. */
	async run(operation: string, run: Run = {}): Promise<RunResult> {
		const { application, table, keepsTime } = this.place;
		const execute = async () => await runRecord(this.credential, operation, { application, table, ...run });
		return keepsTime ? await execute() : await withoutWaits(execute);
	}

	protected async store(table: NewTable['table'], records: IDataObject[] = [], timeZone?: string) {
		const stored = records.map((fields) => ({ fields }));
		await this.sandbox.admin.createTable({ app: this.place.application, timeZone, table, records: stored });
	}

	/** Creates a table, or empties it, and stores records in it. */
	async createTable(table: NewTable['table'], records?: IDataObject[], timeZone?: string): Promise<StoredRecord[]> {
		await this.store(table, records, timeZone);
		await this.clearRequests();
		return await this.records(table.internalName);
	}

	records(table = this.place.table): Promise<StoredRecord[]> {
		return this.sandbox.admin.records(this.place.application, table);
	}

	/** The values of one field, in the order of creation. */
	async values(field: string, table?: string): Promise<unknown[]> {
		return (await this.records(table)).map(({ fields }) => fields[field]);
	}

	/** The ID of the record with this number. */
	async idOf(number: string): Promise<string> {
		return (await this.records()).find(({ fields }) => fields.number === number)!.id;
	}

	faults(...rules: FaultRule[]) {
		return this.sandbox.admin.faults(rules);
	}

	settings(change: Record<string, unknown>) {
		return this.sandbox.admin.settings(change);
	}

	requests(): Promise<LoggedRequest[]> {
		return this.sandbox.admin.requests();
	}

	clearRequests() {
		return this.sandbox.admin.clearRequests();
	}

	/** The requests that could have written something. */
	async writes(): Promise<LoggedRequest[]> {
		const isRead = ({ method, path }: LoggedRequest) => method === 'GET' || path.endsWith('/filter');
		return (await this.requests()).filter((request) => !isRead(request));
	}

	/** Another client's request to a table of the application. */
	private async send<Data>(method: string, path: string, body?: object): Promise<Data> {
		const url = `/apps/${this.place.application}/tables/${path}`;
		const { status, data } = await this.sandbox.client().request<{ data: Data }>({ method, url, data: body });
		if (status >= 300) throw new Error(`${method} ${url}: ${status}`);
		return data.data;
	}

	/** Another client creates a record. */
	async insert(fields: IDataObject, table = this.place.table): Promise<string> {
		return (await this.send<{ id: string }>('POST', `${table}/data`, { fields })).id;
	}

	/** Another client changes a record. */
	async change(id: string, fields: IDataObject, table = this.place.table) {
		await this.send('PATCH', `${table}/data/${id}`, { fields });
	}

	/** Another client deletes a record. */
	async remove(id: string, table = this.place.table) {
		await this.send('DELETE', `${table}/data/${id}`);
	}

	/** A record's fields as the platform returns them to any client. */
	async readFields(id: unknown, table = this.place.table): Promise<IDataObject> {
		return (await this.send<{ fields: IDataObject }>('GET', `${table}/data/${String(id)}`)).fields;
	}

	/** The ID of the table's first saved view. */
	async savedView(table = this.place.table): Promise<string> {
		type Definition = { settings: { userFilters: Array<{ id: string }> } };
		return (await this.send<Definition>('GET', table)).settings.userFilters[0]!.id;
	}
}

/** A small shop. */
export class ShopHarness extends TestHarness {
	/** Empty tables, no faults, default settings. */
	override async reset() {
		await super.reset();
		await this.createTables();
	}

	async createTables() {
		await this.store(orders);
		await this.store(notes);
		await this.clearRequests();
	}

	/** Stores records before the run. */
	async fill<Records extends IDataObject[]>(table: 'orders' | 'notes', ...records: Records) {
		const stored = await this.createTable(table === 'orders' ? orders : notes, records);
		return stored as { [At in keyof Records]: StoredRecord };
	}
}

/** Starts a harness for a test file, and resets it before each test, or once. */
export function useReset<Harness extends TestHarness>(harness: Harness, { once = false } = {}): Harness {
	beforeAll(async () => await harness.start());
	(once ? beforeAll : beforeEach)(async () => await harness.reset());
	return harness;
}

/**
 * The shop of a test file, emptied before each test. The time between a record operation's attempts
 * passes at once, except with `keepsTime`.
 */
export const useHarness = ({ keepsTime = false } = {}) => useReset(new ShopHarness({ application: APP, table: 'orders', keepsTime }));

/** The demo data's customers, as they are at first before each test, or once. */
export const useDemoData = (reset = { once: false }) =>
	useReset(new TestHarness({ application: 'crm', table: 'contacts', seeded: true, keepsTime: true }), reset);

/** For `onStart`: cancels the run when a condition holds, or so much later. */
export const cancelWhen =
	(holds: () => boolean | Promise<boolean>, laterMs = 0) =>
	(cancel: () => void) => {
		const watch = setInterval(async () => {
			if (!(await holds())) return;
			clearInterval(watch);
			setTimeout(cancel, laterMs);
		}, 20);
	};

/** How many of these requests ran at the same time, at most. */
export function mostAtOnce(requests: LoggedRequest[]): number {
	// Both times are rounded, so two that overlap by a millisecond may have run one after the other.
	const spans = requests.map(({ startedAt, milliseconds }) => [Date.parse(startedAt), Date.parse(startedAt) + milliseconds! - 1] as const);
	return Math.max(...spans.map(([start]) => spans.filter(([from, to]) => from <= start && start < to).length));
}

/** Parameters of a filter with these conditions. */
export const where = (...condition: IDataObject[]) => ({ filterMode: 'conditions', conditions: { condition } });

/** A file as the value of a field. */
export const fileValue = (filename: string, content = filename, mimetype = 'text/plain') => ({
	filename,
	mimetype,
	filedata: `data:${mimetype};base64,${Buffer.from(content).toString('base64')}`,
});

/** Changes in the same millisecond have no order, and are read again. */
export async function nextMillisecond() {
	const now = Date.now();
	while (Date.now() <= now) await pause(1);
}

/** An item as a faulty node returns it. */
export const withoutJson = {} as INodeExecutionData;

/** Orders with the numbers `1` to `count`. */
export const numbered = (count: number, more: IDataObject = {}): IDataObject[] =>
	Array.from({ length: count }, (_, index) => order(index + 1, more));

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

/** What the workflow does after an item that fails: it goes on. */
export const goingOn = { onError: 'continueRegularOutput' } as const;

/** No record has it. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** The ID of each item's own record. */
export const byId = { recordId: '={{ $json.id }}' };

/** Match On: Other Fields, or Record Fields. */
export const byFields = (...matchFields: string[]) => ({ matchOn: 'fields', matchFields });

/** An order as `numbered` makes it. */
export const order = (number: number, more: IDataObject = {}): IDataObject => ({ number: `${number}`, buyer: `Buyer ${number}`, ...more });

export const note = (text: string, rank?: number): IDataObject => ({ text, ...(rank !== undefined && { rank }) });

/** A resource locator's value: an ID, or a pasted address. */
export const located = (value: string | null, mode: 'id' | 'list' | 'url' = 'id') => ({ __rl: true, mode, value });

/** Expects that an item failed: its error item has the shape that n8n routes, in its place. */
export const expectFailed = (result: RunResult, index: number, error: string | RegExp, details?: IDataObject) =>
	expectErrorItem(result.output('Data Platform')[index]!, index, error, details);
