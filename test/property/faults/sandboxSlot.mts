/** A sandbox for one schedule at a time: what is set up before, what is true after. */
import {
	createSandboxAdmin,
	type FaultRule,
	type LoggedRequest,
	type NewTable,
	type SandboxAdmin,
	type StoredRecord,
	type StoredVersion,
} from '../../support/sandboxAdmin.mts';
import { APP, TABLE } from './constants.mts';
import type { SandboxAddress } from './sandboxes.mts';

/** What the sandbox knows after a run. */
export interface Truth {
	records: StoredRecord[];
	/** Without what was there before: the versions that the run wrote. */
	written: StoredVersion[];
	requests: LoggedRequest[];
}

export class SandboxSlot {
	readonly address: SandboxAddress;
	readonly #admin: SandboxAdmin;

	constructor(address: SandboxAddress) {
		this.address = address;
		this.#admin = createSandboxAdmin(address.baseUrl);
	}

	/** Replaces the table; returns the records that are in it. */
	async prepare(
		settings: Record<string, unknown>,
		table: NewTable['table'],
		records: NonNullable<NewTable['records']>,
		rules: FaultRule[],
	): Promise<StoredRecord[]> {
		await this.#admin.faults([]);
		await this.#admin.settings(settings);
		await this.#admin.createTable({ app: APP, timeZone: 'Europe/Berlin', table, records });
		await this.#admin.clearRequests();
		await this.#admin.faults(rules);
		return await this.#admin.records(APP, TABLE);
	}

	/** What is true once every request has ended, also those whose client has given up. */
	async truth(): Promise<Truth> {
		await this.#admin.waitUntilIdle();
		const requests = await this.#admin.requests();
		const records = await this.#admin.records(APP, TABLE);
		const history = await this.#admin.history(APP, TABLE);
		return { records, requests, written: history.filter(({ request }) => request > 0) };
	}
}
