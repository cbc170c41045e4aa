/** What holds for a run: the table, how records are found and written, and the limits. */
import type { WriteOptions } from '../api/records';
import type { TableAddress, TableDefinition } from '../api/types';
import type { ApiClient } from '../transport/client';
import type { FieldRules } from './fieldRules';
import type { LinkRules } from './links';
import type { MatchOn, PlanOptions, WriteMode } from './plan';

/** The table that is written to, and the client that reaches it. */
export interface WriteTarget {
	client: ApiClient;
	at: TableAddress;
	table: TableDefinition;
}

export interface MatchRules {
	/** What to do with a record that is there: update it, or return it as it is. */
	ifFound: 'update' | 'skip';
	ifMissing: 'create' | 'skip' | 'error';
	multipleMatches: 'error' | 'first' | 'all';
	/** Which fields a record that is there keeps. */
	fieldRules?: FieldRules;
}

export interface Matching extends MatchRules {
	on: MatchOn;
}

export interface Task extends WriteOptions {
	mode: WriteMode;
	/** The import key's name where the table's definition does not mark it. */
	importKey?: string;
	/** How records are found, where the platform does not find them itself. */
	matching?: Matching;
	/** How rows become records. */
	planning?: PlanOptions;
	/** Each record is written by a request of its own, and returned with all that it holds. */
	isSingle?: boolean;
	/** How many records a request has at most; 0: automatic. */
	batchSize: number;
	batchBytes: number;
	/** How many requests are under way at most; 0: automatic. */
	parallelRequests: number;
	/** Read the current values first, write only what differs. */
	skipUnchanged: boolean;
	/** Write nothing; report what would be written. */
	dryRun: boolean;
	/** Send no further batch once an item did not succeed. */
	stopAtFailure: boolean;
	/** Send no further batch once more than this share of the items failed, in percent. */
	maxFailedShare?: number;
}

/** Of rows, whose links may be given by name. */
export interface RowTask extends Task {
	planning: PlanOptions;
	linkRules: LinkRules;
}
