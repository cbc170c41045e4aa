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
	startedAt: string;
	milliseconds: number | null;
	/** Whether its handler is still running, perhaps after the client disconnected. */
	busy: boolean;
}

const entriesKept = 100_000;

/** The bodies of the latest requests are kept for the live page, up to this size in total. */
const bodyBytesKept = 4 * 1024 * 1024;

/** The requests to the platform's URLs, in order of arrival. */
export class RequestLog {
	#entries: LogEntry[] = [];
	#latest: number;
	/** By request number, the oldest first. */
	#bodies = new Map<number, { body: unknown; bytes: number }>();
	#bodyBytes = 0;

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

	/** Keeps the body of a request, and drops the oldest ones to make room. */
	keepBody({ number, bodyBytes }: LogEntry, body: unknown): void {
		if (body === undefined || bodyBytes > bodyBytesKept) return;
		this.#bodies.set(number, { body, bytes: bodyBytes });
		this.#bodyBytes += bodyBytes;
		for (const [oldest, { bytes }] of this.#bodies) {
			if (this.#bodyBytes <= bodyBytesKept) break;
			this.#bodies.delete(oldest);
			this.#bodyBytes -= bytes;
		}
	}

	/** The body of a request, if it had one and is still kept. */
	body(number: number): unknown {
		return this.#bodies.get(number)?.body;
	}

	all(): LogEntry[] {
		return this.#entries;
	}

	clear(): void {
		this.#entries = [];
		this.#bodies.clear();
		this.#bodyBytes = 0;
	}
}
