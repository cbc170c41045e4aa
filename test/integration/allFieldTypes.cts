/** The sandbox's deals, a table with a field of every type, written by the node. */
import type { IDataObject } from 'n8n-workflow';
import { defined, type RunResult } from '../support/engine/engine.cts';
import { TestHarness, useReset, type Run } from './fixtures.cts';

export type Mode = 'defined' | 'automatic';

let numbers = 0;

/** The required values of a deal, with a number of its own. */
export const newDeal = () => ({ number: `T-${(numbers += 1)}`, title: 'Test' });

/** An item's values, mapped by hand or automatically. */
export const mapped = (mode: Mode, values: IDataObject): Pick<Run, 'items' | 'parameters'> =>
	mode === 'defined' ? { parameters: { columns: defined(values) } } : { items: [values] };

class AllFieldTypesHarness extends TestHarness {
	/** The ids of records that a deal can be linked to. */
	people: string[] = [];
	companies: string[] = [];

	override async reset() {
		await super.reset();
		this.people = (await this.records('contacts')).map(({ id }) => id);
		this.companies = (await this.records('companies')).map(({ id }) => id);
	}

	/** The values of a deal in the sandbox's database. */
	async storedFields(id: unknown) {
		return (await this.records()).find((record) => record.id === id)!.fields;
	}

	/** Creates a deal with one more value, set by hand or taken from the item. */
	async create(mode: Mode, field: string, value: unknown, timezone?: string): Promise<RunResult> {
		return await this.run('create', { timezone, ...mapped(mode, { ...newDeal(), [field]: value } as IDataObject) });
	}

	/** The value that the service returns after a value was written. */
	async writeAndRead(mode: Mode, field: string, value: unknown, timezone?: string): Promise<unknown> {
		const result = await this.create(mode, field, value, timezone);
		expect(result.error?.message).toBeUndefined();
		return (await this.readFields(result.json()[0]!.id))[field];
	}
}

/** The deals of the demo data, for a test file. */
export const useAllFieldTypes = () =>
	useReset(new AllFieldTypesHarness({ application: 'crm', table: 'deals', seeded: true, keepsTime: true }), { once: true });
