/** A sandbox of its own for one schedule at a time: what is set up before, what is true after. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
	FaultRule,
	LoggedRequest,
	NewTable,
	StoredRecord,
	StoredVersion,
} from '../../support/sandbox.cts';
import { faultsOf, LATE_MS } from './faults.mts';
import { APP, TABLE } from './constants.mts';
import type { SandboxAddress } from './sandboxes.mts';

/** How long a request that nobody waits for may go on in the sandbox. */
const MAX_LATE_MS = 10_000;

/** What the sandbox knows after a run. */
export interface Truth {
	records: StoredRecord[];
	/** Without what was there before: the versions that the run wrote. */
	written: StoredVersion[];
	requests: LoggedRequest[];
}

export class SandboxSlot {
	readonly address: SandboxAddress;

	constructor(address: SandboxAddress) {
		this.address = address;
	}

	/** Makes the table anew; answers the records that are in it. */
	async prepare(
		settings: object,
		table: NewTable['table'],
		records: NonNullable<NewTable['records']>,
		rules: FaultRule[],
	): Promise<StoredRecord[]> {
		await this.#call('PUT', '/faults', []);
		await this.#call('PUT', '/settings', settings);
		const timeZone = 'Europe/Berlin';
		await this.#call('POST', '/tables', { app: APP, timeZone, table, records });
		await this.#call('DELETE', '/requests');
		await this.#call('PUT', '/faults', rules);
		return await this.#read<StoredRecord[]>(`/tables/${APP}/${TABLE}/records`);
	}

	/** What is true once every request has come to its end, those that nobody waits for too. */
	async truth(): Promise<Truth> {
		const until = Date.now() + MAX_LATE_MS;
		let requests = await this.#read<LoggedRequest[]>('/requests');
		while (requests.some(({ outcome }) => outcome === 'running')) {
			if (Date.now() > until) throw new Error('A request in the sandbox does not end.');
			await sleep(20);
			requests = await this.#read<LoggedRequest[]>('/requests');
		}
		// Such a request counts as ended when its client gives up, and writes all the same.
		if (requests.some((request) => faultsOf(request).includes('late'))) await sleep(LATE_MS);
		const records = await this.#read<StoredRecord[]>(`/tables/${APP}/${TABLE}/records`);
		const history = await this.#read<StoredVersion[]>(`/tables/${APP}/${TABLE}/history`);
		return { records, requests, written: history.filter(({ request }) => request > 0) };
	}

	async #read<Data>(path: string): Promise<Data> {
		return ((await this.#call('GET', path)) as { data: Data }).data;
	}

	async #call(method: string, path: string, body?: object): Promise<unknown> {
		const response = await fetch(`${this.address.baseUrl}/sandbox${path}`, {
			method,
			...(body && {
				body: JSON.stringify(body),
				headers: { 'content-type': 'application/json' },
			}),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text === '' ? undefined : JSON.parse(text);
	}
}
