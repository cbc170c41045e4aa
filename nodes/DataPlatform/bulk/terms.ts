/**
 * The words of `bulk/`, as types: the settings of a run, what it plans, what a request reports, and what
 * became of each item.
 *
 *     PlanInput ─▶ Entry ─▶ Reported ─▶ ItemOutcome
 */
import type {
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	RecordMetadata,
} from '../api/types';
import type { EmptyPolicy } from '../fields/values';
import type { ErrorEntry } from '../transport/errorEntries';
import type { Problem, ServiceError } from '../transport/errors';

/** `update` keeps the fields that are not sent, `replace` clears them. */
export type WriteMode = 'create' | 'upsert' | 'update' | 'replace';

/** How an item's record is found: by its ID, or by the fields with these names. */
export type MatchOn = 'recordId' | string[];

export interface PlanOptions {
	mode: WriteMode;
	empty: EmptyPolicy;
	unknownFields: 'error' | 'ignore';
	/** Items with the same key or ID: merge them, reject them all, or keep only the first. */
	duplicates: 'merge' | 'error' | 'keepFirst';
	/** What messages call an entry of the input; by default an item. */
	unit?: 'item' | 'row';
	/** The fields to match records on; by default the import key or the record's ID, by mode. */
	matchOn?: MatchOn;
	/**
	 * Whether the values may be a record as it was read: then fields that can't be written are left
	 * out.
	 */
	isFromInput?: boolean;
	/**
	 * The value of an item's field in an expression, such as `$json.due`, for advice: empty for an agent,
	 * which writes no expressions.
	 */
	sourceOf?: (index: number, field: FieldDefinition) => string;
	/** A record without values is fine: none is created, or its files are written, too. */
	mayBeEmpty?: boolean;
}

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

/** Two-way sync: a field that needs a person. */
export interface Conflict {
	field: string;
	/** The last value that both sides had; undefined the first time, or if it was long. */
	agreed?: JsonValue;
	here: JsonValue;
	item: JsonValue;
	/** When both sides agreed last. */
	since?: string;
}

/** An item on its way in. */
export interface PlanInput {
	/** The item it comes from. */
	index: number;
	/** Values by field name, as the user's item holds them. */
	values: unknown;
	/** The record's ID, if it is an existing one. */
	id?: unknown;
	/** Problems that it already has. */
	problems?: Problem[];
}

/** Why an item can't be sent. Without a hint, it is to be corrected. */
export interface RowProblem extends Problem {
	index: number;
}

export interface Plan {
	records: Entry[];
	problems: RowProblem[];
	/** Items that were merged into a later item with the same key or ID, and its index. */
	merged: Map<number, number>;
	/** Headers of fields in the items that can't be written. */
	ignored: Set<string>;
	/** What people should know about the values of the run so far. */
	notices: string[];
}

/** One record on its way through a run, from its item to its outcome. Steps return changed copies. */
export interface Entry {
	/** The item it comes from. */
	index: number;
	id?: string;
	/**
	 * The value of its import key, or the values to match on, as the platform stores them; undefined
	 * if they can't identify the record.
	 */
	key?: string;
	/** All values to write. */
	fields: FieldValues;
	/** The fields that are not written because of field rules, and whose stored value differs. */
	kept?: string[];
	/** The result of two-way sync. */
	twoWay?: {
		sendBack: FieldValues;
		conflicts: Conflict[];
		/** The name of the field that holds the state. */
		state: string;
		/** Nothing was agreed before. */
		isFirst: boolean;
		/** What the field held was not this record's state, or could not be read. */
		isStateLost: boolean;
		/** Something new is written or sent back. */
		isChanged: boolean;
	};

	/** The record before the write: null if there was none, undefined if it was not looked up. */
	before?: PlatformRecord | null;
	/** The values to send, if some of `fields` are stored already. */
	sent?: FieldValues;
	/** The attempts of unknown result: each may have written it, or may still do so. */
	attempts?: ServiceError[];
}

/**
 * All outcomes. An outcome claims only what a response reports, or what a look-up proved.
 * - `inserted` · `updated` · `unchanged`: the record holds what was sent,
 * - `written`: it does, too, but it is not known whether this run changed it: a response was lost, or
 *   does not say so,
 * - `found`: the record exists and was returned unchanged, because existing ones are skipped,
 * - `skipped`: no record matched, and missing ones are skipped; or it was to be removed, but no
 *   longer matches,
 * - `deleted` · `marked`: a record that is missing from the input was deleted, or some of its
 *   fields were set,
 * - `notFound`: no record has this ID, or none matches,
 * - `failed`: it was not written,
 * - `unknown`: it may or may not have been written, or it was by a key that is not the platform's.
 */
export type Outcome =
	| 'inserted'
	| 'updated'
	| 'unchanged'
	| 'written'
	| 'found'
	| 'skipped'
	| 'deleted'
	| 'marked'
	| 'notFound'
	| 'failed'
	| 'unknown';

/** A record with its outcome, or with a problem. */
export interface ItemOutcome extends Partial<Problem> {
	outcome: Outcome;
	created?: string;
	modified?: string;
	ver?: number;
	/** The record's values, if it was returned or written by itself. */
	fields?: FieldValues;
	/** The later item with the same key or ID, into which it was merged; null if it is that one. */
	mergedInto?: number | null;
	/** The fields that kept a value other than the item's, because of field rules. */
	kept?: string[];
	/** Two-way sync: the record's values that the other system does not have yet. */
	sendBack?: FieldValues;
	/** Two-way sync: fields that both sides changed. */
	conflicts?: Conflict[];
	/** The values that were replaced, or all values of a deleted record, if they were asked for. */
	previous?: FieldValues;
	/** Dry run: the values that would change, before and after. */
	before?: Record<string, unknown>;
	after?: Record<string, unknown>;
}

/** An entry that has its outcome. */
export type ResolvedEntry = [Entry, ItemOutcome];

/** A record that a response lists: it was inserted or changed. */
export interface Listed {
	/** Undefined if it is one of several, and nobody can tell which. */
	record?: RecordMetadata;
	/** Whether it was inserted; undefined if the response does not say so. */
	isNew?: boolean;
}

/**
 * What a request reports about one record:
 * - `listed`: it was written
 * - `omitted`: it was counted as a success, but is not in the list. A look-up may still find its
 *   record there: the list, by `idKey`, does not say which entry each belongs to
 * - `rejected`: it was not written
 * - `unclear`: the response does not account for it; `reasons` say why records were not written
 * - `lost`: there is no response; the entry's last attempt says why
 */
export type Reported =
	| ({ as: 'listed' } & Listed)
	| { as: 'omitted'; listed: ReadonlyMap<string, Listed> }
	| { as: 'rejected'; rejection: ItemOutcome }
	| {
			as: 'unclear';
			reasons: ErrorEntry[];
			/** Whether the response names other records, because of which it may have stopped. */
			namesOthers: boolean;
			listed: ReadonlyMap<string, Listed>;
	  }
	| { as: 'lost' };

/** An entry and what its request reports about it. */
export type Report = readonly [Entry, Reported];

/** A record that is removed, for people: with its key, if it has one. */
export interface NamedRecord {
	id: string;
	key?: string;
}
