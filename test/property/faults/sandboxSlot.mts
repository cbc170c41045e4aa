/** A sandbox for one run at a time: prepares it, and returns the truth afterwards. */
import type { FaultRule, LoggedRequest, NewTable, StoredRecord, StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { ConnectedSandbox } from '../../../harness/sandboxProcess.mts';
import { runOperation, type OperationRun, type RunResult } from '../../support/engine/outsideJest.mts';
import { onVirtualClock } from '../matrix/virtualClock.mts';
import { APP, OTHER_WRITER, TABLE } from './constants.mts';
import { waitForLate } from './faults.mts';
import { openGateway, type OtherWrite } from './otherWriter.mts';

/** What the sandbox knows after a run. */
export interface Truth {
	records: StoredRecord[];
	/** Every version since the start, including those of another writer. */
	history: StoredVersion[];
	/** The versions that the node wrote. */
	written: StoredVersion[];
	/** The node's requests. */
	requests: LoggedRequest[];
	/** Whether another writer wrote something. */
	isOtherMet: boolean;
}

export const describeRequest = ({ number, method, path, query, status, outcome, records, faults }: LoggedRequest) =>
	`${number} ${method} ${path}${query && `?${query}`} ${status ?? outcome}${records === null ? '' : ` records ${records}`} [${faults.join(', ')}]`;

export class SandboxSlot {
	readonly sandbox: ConnectedSandbox;
	#rules: FaultRule[] = [];
	readonly #tokens = new Map<string, Promise<string>>();

	constructor(sandbox: ConnectedSandbox) {
		this.sandbox = sandbox;
	}

	get credential() {
		return { baseUrl: this.sandbox.baseUrl, token: this.sandbox.tokens.role };
	}

	/** The token of another writer. */
	otherToken = async () => await this.#tokenOf(OTHER_WRITER, 'structure', 'create', 'update', 'delete');

	/** May write records, not read them. */
	writeOnlyToken = async () => await this.#tokenOf('write-only', 'structure', 'create', 'update');

	async #tokenOf(name: string, ...allow: string[]): Promise<string> {
		const made =
			this.#tokens.get(name) ?? this.sandbox.admin.createToken({ name, type: 'role', permissions: [{ app: APP, table: '*', allow }] });
		this.#tokens.set(name, made);
		return await made;
	}

	/** Replaces the table and returns its records. */
	async prepare(
		settings: Record<string, unknown>,
		table: NewTable['table'],
		records: NonNullable<NewTable['records']>,
		rules: FaultRule[],
	): Promise<StoredRecord[]> {
		const { admin } = this.sandbox;
		await admin.faults([]);
		await admin.settings(settings);
		await admin.createTable({ app: APP, timeZone: 'Europe/Berlin', table, records });
		await this.begin(rules);
		return await admin.records(APP, TABLE);
	}

	/** From here on, everything in the log belongs to the run. */
	async begin(rules: FaultRule[]): Promise<void> {
		await this.sandbox.admin.clearRequests();
		await this.sandbox.admin.faults(rules);
		this.#rules = rules;
	}

	/** A request by another client. Returns the `data` of the response. */
	async requestAsOtherClient(method: string, path: string, body?: object): Promise<unknown> {
		const { status, data } = await this.sandbox
			.client(this.sandbox.tokens.jwt)
			.request<{ data?: unknown }>({ method, url: path, data: body });
		if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
		return data.data;
	}

	/** Runs an operation on its own clock and with this timeout, if need be beside another writer or with another token. */
	async run(timeoutS: number, { parameters, ...run }: OperationRun, otherWrite?: OtherWrite, token?: string): Promise<RunResult> {
		const { options, ...own } = parameters as { options?: object };
		const { credential } = this;
		const gateway = otherWrite && (await openGateway({ ...credential, otherToken: await this.otherToken() }, otherWrite));
		const used = { baseUrl: gateway?.baseUrl ?? credential.baseUrl, token: token ?? credential.token };
		// Some operations have no such option.
		const defaults = { options: { ...options, timeout: timeoutS } };
		const result = await onVirtualClock(timeoutS, async () => await runOperation(used, { ...run, parameters: own, defaults }));
		gateway?.close();
		return result;
	}

	/** The truth once every request has ended, including those whose client has given up. */
	async truth(): Promise<Truth> {
		const { admin } = this.sandbox;
		await admin.waitUntilIdle();
		await waitForLate(this.#rules);
		await admin.storeLateValues();
		const all = await admin.requests();
		await admin.faults([]);
		const requests = all.filter(({ token }) => token !== OTHER_WRITER);
		const numbers = new Set(all.map(({ number }) => number));
		const own = new Set(requests.map(({ number }) => number));
		const history = (await admin.history(APP, TABLE)).filter(({ request }) => numbers.has(request));
		const written = history.filter(({ request }) => own.has(request));
		const records = await admin.records(APP, TABLE);
		return { records, history, written, requests, isOtherMet: written.length < history.length };
	}
}
