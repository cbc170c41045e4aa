/** One request in GET /sandbox/requests, without the token's value and the body. */
export interface LogEntry {
	number: number;
	method: string;
	path: string;
	/** With the value of `token` masked. */
	query: string;
	/** Null while it runs, and if the connection was reset before a response. */
	status: number | null;
	outcome: 'running' | 'completed' | 'reset';
	/** The token's name. */
	token: string | null;
	bodyBytes: number;
	/** How many records the bulk request or the response of a read contains. */
	records: number | null;
	/** Ids or positions of the fault rules that applied. */
	faults: string[];
	/** Why it was rejected, or records of it. */
	reasons: string[];
	startedAt: string;
	milliseconds: number | null;
	/** Whether its handler is still running, perhaps after the client disconnected. */
	busy: boolean;
}

const entriesKept = 100_000;

/** What the latest requests had is kept for the live page, up to this size in total. */
const bytesKept = 4 * 1024 * 1024;

/** What a request and its response had, if it is still kept. */
export interface Exchanged {
	/** The JSON of the request. */
	body?: unknown;
	/** The text of the response. */
	response?: string;
}

/** The requests to the platform's URLs, in order of arrival. */
export class RequestLog {
	#entries: LogEntry[] = [];
	#latest: number;
	/** By request number, the oldest first. */
	#kept = new Map<number, Exchanged & { bytes: number }>();
	#bytes = 0;

	constructor(latest: number) {
		this.#latest = latest;
	}

	start(method: string, url: string): LogEntry {
		const [path = '', query = ''] = url.split('?', 2);
		this.#latest += 1;
		const entry: LogEntry = {
			number: this.#latest,
			method,
			path,
			query: query.replace(/(^|&)token=[^&]*/g, '$1token=***'),
			status: null,
			outcome: 'running',
			token: null,
			bodyBytes: 0,
			records: null,
			faults: [],
			reasons: [],
			startedAt: new Date().toISOString(),
			milliseconds: null,
			busy: false,
		};
		this.#entries.push(entry);
		if (this.#entries.length > entriesKept) this.#entries = this.#entries.slice(entriesKept / 2);
		return entry;
	}

	/** Only the first call for an entry counts. */
	end(entry: LogEntry, outcome: 'completed' | 'reset', status: number | null): void {
		if (entry.outcome !== 'running') return;
		entry.outcome = outcome;
		entry.status = status;
		entry.milliseconds = Date.now() - Date.parse(entry.startedAt);
	}

	/** Keeps what a request or its response has, and drops the oldest ones to make room. */
	keep<Part extends keyof Exchanged>(
		{ number }: LogEntry,
		part: Part,
		content: Exchanged[Part],
		size: number,
	): void {
		if (content === undefined || size > bytesKept) return;
		const { bytes = 0, ...kept } = this.#kept.get(number) ?? {};
		this.#kept.set(number, { ...kept, [part]: content, bytes: bytes + size });
		this.#bytes += size;
		for (const [oldest, entry] of this.#kept) {
			if (this.#bytes <= bytesKept) break;
			this.#kept.delete(oldest);
			this.#bytes -= entry.bytes;
		}
	}

	kept(number: number): Exchanged {
		const { body, response } = this.#kept.get(number) ?? {};
		return { body, response };
	}

	all(): LogEntry[] {
		return this.#entries;
	}

	clear(): void {
		this.#entries = [];
		this.#kept.clear();
		this.#bytes = 0;
	}
}
