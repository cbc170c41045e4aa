/** A sandbox for one schedule at a time: prepares it, and returns the truth afterwards. */
import {
	createSandboxAdmin,
	type FaultRule,
	type LoggedRequest,
	type NewTable,
	type SandboxAdmin,
	type StoredRecord,
	type StoredVersion,
} from '../../../harness/sandboxAdmin.mts';
import { APP, OTHER_WRITER, TABLE } from './constants.mts';
import { waitForLate } from './faults.mts';
import type { SandboxAddress } from './sandboxes.mts';

/** What the sandbox knows after a run. */
export interface Truth {
	records: StoredRecord[];
	/** Every version since the start, including those of the other writer. */
	history: StoredVersion[];
	/** The versions that the node wrote. */
	written: StoredVersion[];
	/** The node's requests. */
	requests: LoggedRequest[];
}

export class SandboxSlot {
	readonly address: SandboxAddress;
	readonly #admin: SandboxAdmin;
	#rules: FaultRule[] = [];

	constructor(address: SandboxAddress) {
		this.address = address;
		this.#admin = createSandboxAdmin(address.baseUrl);
	}

	/** Replaces the table and returns its records. */
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
		this.#rules = rules;
		return await this.#admin.records(APP, TABLE);
	}

	/** The truth once every request has ended, including those whose client has given up. */
	async truth(): Promise<Truth> {
		await this.#admin.waitUntilIdle();
		await waitForLate(this.#rules);
		const all = await this.#admin.requests();
		const isOthers = ({ token }: LoggedRequest) => token === OTHER_WRITER;
		const others = new Set(all.filter(isOthers).map(({ number }) => number));
		const records = await this.#admin.records(APP, TABLE);
		const versions = await this.#admin.history(APP, TABLE);
		const history = versions.filter(({ request }) => request > 0);
		return {
			records,
			requests: all.filter((request) => !isOthers(request)),
			history,
			written: history.filter(({ request }) => !others.has(request)),
		};
	}
}
