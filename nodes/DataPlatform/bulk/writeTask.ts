/** The settings of a run: the table, how to find and write records, and the limits. */
import type { MatchOn, PlanOptions, WriteMode } from './terms';

/** By field name. A field without a rule is always written. */
export type FieldRules = ReadonlyMap<string, 'whenCreating' | 'ifEmpty'>;

/** How to resolve the values of a link field if they are not record IDs. */
export interface LinkRule {
	/** The field of the linked table that holds them; by default its import key. */
	linkedField?: string;
	ifNotFound: 'error' | 'leaveEmpty' | 'create';
}

/** By the link field's name. */
export type LinkRules = ReadonlyMap<string, LinkRule>;

/** What to do with a field that both sides changed, or that differs the first time. */
export type TwoWayRule = 'report' | 'takeItem' | 'keep';

export interface TwoWayRules {
	bothChanged: TwoWayRule;
	/** With `report`, an empty side is filled from the other one. */
	firstTime: TwoWayRule;
}

/** Two-way sync: the record keeps what both sides agreed on. */
export interface TwoWay extends TwoWayRules {
	/** The name of the field that holds it. */
	state: string;
	/** If a larger share of the records changed, in percent, nothing is written. */
	maxChanges: number;
	/** The time of the run, in ISO 8601. */
	now: string;
}

export interface MatchRules {
	/** What to do with an existing record: update it, or return it unchanged. */
	ifFound: 'update' | 'skip';
	ifMissing: 'create' | 'skip' | 'error';
	multipleMatches: 'error' | 'first';
	/** Which fields an existing record keeps. */
	fieldRules?: FieldRules;
	twoWay?: TwoWay;
	/** If more percent of the records would be new, and the table has others, nothing is sent. */
	maxNew?: number;
}

export interface Matching extends MatchRules {
	on: MatchOn;
}

export interface Task {
	mode: WriteMode;
	/** The import key's name, if the user names it: the table then marks it. */
	importKey?: string;
	/** How to find records, if the platform does not find them itself. */
	matching?: Matching;
	/** The most records in a request; 0 for automatic. */
	batchSize: number;
	/** The most requests at once; 0 for automatic. */
	parallelRequests: number;
	/** Nobody asks for the IDs of records: none is looked up only for it. */
	withoutIds?: boolean;
	/** Read the current values first, and write only the differences. */
	skipUnchanged: boolean;
	/** Report the values that are replaced. Only those that were read are known. */
	returnsPrevious?: boolean;
	/** Write nothing; report what would be written. */
	dryRun: boolean;
	/** Send no further batch after an item that did not succeed. */
	stopAtFailure: boolean;
}

/** A task for rows, whose links may be names instead of IDs. */
export interface RowTask extends Task {
	/** How rows become records. */
	planning: PlanOptions;
	linkRules: LinkRules;
	/** The user named the import key: whether it is the platform's is proven before items are sent. */
	provesKey?: boolean;
}
