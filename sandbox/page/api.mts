/**
 * The responses of the administration API that the page uses, by path; docs/sandbox.md. Only types:
 * the page imports them in its comments, and the browser never loads this file.
 */
import type { FaultRule } from '../faults/rules.mts';
import type { Run, TokenType, Workflow } from '../state/model.mts';
import type { Exchanged, LogEntry } from '../state/requestLog.mts';
import type { StoredFile } from '../store/fileStore.mts';
import type { Variant } from '../state/variants.mts';
import type { Version } from '../store/recordStore.mts';

export interface PageTable {
	app: string;
	appName: string;
	table: string;
	header: string;
	fields: Array<{ name: string; header: string; type: string; sortable: boolean }>;
	records: number;
}

export interface PageRecord {
	id: string;
	ver: number;
	created: string;
	modified: string;
	fields: Record<string, unknown>;
}

export interface PageToken {
	name: string;
	type: TokenType;
	/** Its first characters. */
	value: string;
	role: string | null;
	createdBy: string | null;
	createdOn: string;
	status: 'valid' | 'revoked';
	validTo: string | null;
	valid: boolean;
	templates: boolean;
}

export interface PageWorkflow extends Pick<Workflow, 'id' | 'name' | 'runAs' | 'script'> {
	webhookUrl: string;
	configuredBy: string | null;
	token: string | null;
}

/** A variant, the value of its setting, and whether a request has met it since it was set. */
export type PageVariant = Variant & { played: Variant['readings'][0]['value']; isMet: boolean };

export type PageRun = Run & { workflow: string | null };
export type PageRequest = LogEntry;
/** A rule, how many requests it has matched, and the numbers of the latest that got the fault. */
export type PageFault = FaultRule & { seen: number; met: number[] };

export type PageFile = Pick<StoredFile, 'id' | 'name' | 'size' | 'mimetype' | 'picture'> & {
	table: string;
};

/** The `data` of each endpoint, by its path under `/sandbox/`. */
interface Endpoints {
	tables: PageTable[];
	files: PageFile[];
	tokens: PageToken[];
	'demo-tokens': Record<string, string>;
	workflows: PageWorkflow[];
	runs: PageRun[];
	requests: PageRequest[];
	faults: PageFault[];
	variants: PageVariant[];
	[exchange: `requests/${number}`]: Exchanged;
	[latest: `tables/${string}/latest?${string}`]: { count: number; records: PageRecord[] };
	[record: `tables/${string}/records/${string}`]: PageRecord;
	[history: `tables/${string}/history?record=${string}`]: Version[];
}

/** Reads an endpoint of the administration API. @throws {Error} if the request fails */
export type Get = <Path extends keyof Endpoints>(path: Path) => Promise<Endpoints[Path]>;

/** Sends a request to the administration API, and redraws the page. @throws {Error} if it fails */
export type Send = (method: string, path: string, body?: unknown) => Promise<void>;

/** The column that a list is sorted by: a field's name, or the column's header. */
export interface Sort {
	by: string;
	descending: boolean;
}

/** Which page of a list is shown, from 0. */
export interface Paging {
	page: number;
	onPage(page: number): void;
}

/** The input of a section of the page. */
export interface ViewInput extends Paging {
	get: Get;
	send: Send;
	tables: PageTable[];
	/** The route's parts after the section's name. */
	rest: string[];
	/** What the user searches for; empty if nothing. */
	search: string;
	/** What the user has chosen; undefined if nothing. */
	sort: Sort | undefined;
	onSort(sort: Sort): void;
}

export interface View {
	title: string;
	nodes: HTMLElement[];
	/** Whether there is something to search. */
	searchable?: boolean;
}

/** A column of a list. */
export interface Column<Entry> {
	header: string;
	/** The value to sort by and search in. For text and numbers, the cell shows it as well. */
	value(entry: Entry): string | number;
	/** The content of the cell, if it differs from the value. */
	cell?(entry: Entry): Node | string;
}
