/** One request as GET /sandbox/requests tells it. Never holds a token's value or a body. */
export interface JournalEntry {
	number: number;
	method: string;
	path: string;
	/** With the value of `token` masked. */
	query: string;
	/** Null while it runs, and when the connection broke before an answer. */
	status: number | null;
	outcome: 'running' | 'answered' | 'reset';
	/** The token's name. */
	token: string | null;
	bodyBytes: number;
	/** How many records the request carried, or a read answered with. */
	records: number | null;
	/** The ids or positions of the fault rules that met it. */
	faults: string[];
	startedAt: string;
	milliseconds: number | null;
	/** Whether its handler is at work, perhaps for a client that has gone. */
	busy: boolean;
}

const entriesKept = 100_000;

/** The requests to the platform's own addresses, in the order of their arrival. */
export class Journal {
	#entries: JournalEntry[] = [];
	#latest: number;

	constructor(latest: number) {
		this.#latest = latest;
	}

	start(method: string, url: string): JournalEntry {
		const [path = '', query = ''] = url.split('?', 2);
		this.#latest += 1;
		const entry: JournalEntry = {
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

	/** The first end counts. */
	end(entry: JournalEntry, outcome: 'answered' | 'reset', status: number | null): void {
		if (entry.outcome !== 'running') return;
		entry.outcome = outcome;
		entry.status = status;
		entry.milliseconds = Date.now() - Date.parse(entry.startedAt);
	}

	all(): JournalEntry[] {
		return this.#entries;
	}

	clear(): void {
		this.#entries = [];
	}
}
