/** The sandbox's deals, a table with a field of every type, written by the node. */
import type { IDataObject, INode } from 'n8n-workflow';
import { automatic, defined, picked, runOperation, type Credential, type RunResult } from '../support/engine/engine.cts';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';

export interface WriteOptions {
	operation?: string;
	columns?: IDataObject;
	items?: IDataObject[];
	options?: IDataObject;
	parameters?: IDataObject;
	timezone?: string;
	onError?: INode['onError'];
}

export type Mode = 'defined' | 'automatic';

let numbers = 0;

/** The required values of a deal, with a number of its own. */
export const newDeal = () => ({ number: `T-${(numbers += 1)}`, title: 'Test' });

export class AllFieldTypesHarness {
	private started?: RunningSandbox;
	/** The ids of records that a deal can be linked to. */
	people: string[] = [];
	companies: string[] = [];

	get sandbox(): RunningSandbox {
		if (!this.started) throw new Error('The sandbox has not been started yet');
		return this.started;
	}

	async start() {
		this.started = await sharedSandbox({ seeded: true });
		await this.sandbox.admin.reset();
		this.people = (await this.records('contacts')).map(({ id }) => id);
		this.companies = (await this.records('companies')).map(({ id }) => id);
	}

	records(table = 'deals') {
		return this.sandbox.admin.records('crm', table);
	}

	/** The values of a deal in the sandbox's database. */
	async storedFields(id: unknown) {
		return (await this.records()).find((record) => record.id === id)!.fields;
	}

	/** Runs an operation of the node on the deals. */
	async run({ operation = 'create', columns = automatic, options = {}, parameters = {}, ...rest }: WriteOptions): Promise<RunResult> {
		const { baseUrl, tokens } = this.sandbox;
		const credential: Credential = { baseUrl, token: tokens.role };
		return await runOperation(credential, {
			parameters: { resource: 'record', operation, application: picked('crm'), table: picked('deals'), columns, options, ...parameters },
			...rest,
		});
	}

	/** The deal's fields as the service returns them to any client. */
	async readFields(id: unknown): Promise<IDataObject> {
		const path = `/apps/crm/tables/deals/data/${String(id)}`;
		const { data } = await this.sandbox.client().get<{ data: { fields: IDataObject } }>(path);
		return data.data.fields;
	}

	/** Creates a deal with one more value, set by hand or taken from the item. */
	async create(mode: Mode, field: string, value: unknown, timezone?: string): Promise<RunResult> {
		const values = { ...newDeal(), [field]: value } as IDataObject;
		return await this.run({ timezone, ...(mode === 'defined' ? { columns: defined(values) } : { items: [values] }) });
	}

	/** The value that the service returns after a value was written. */
	async writeAndRead(mode: Mode, field: string, value: unknown, timezone?: string): Promise<unknown> {
		const result = await this.create(mode, field, value, timezone);
		expect(result.error?.message).toBeUndefined();
		return (await this.readFields(result.json()[0]!.id))[field];
	}
}

/** The deals of the demo data, for a test file. */
export function useAllFieldTypes(): AllFieldTypesHarness {
	const deals = new AllFieldTypesHarness();
	beforeAll(async () => await deals.start());
	return deals;
}
