/**
 * What the administration API returns to the page, by path; docs/sandbox.md. Types only: the page
 * takes them in its comments, and the browser never loads this file.
 */
import type { Run, TokenType, Workflow } from '../state/model.mts';
import type { LogEntry } from '../state/requestLog.mts';
import type { StoredFile } from '../store/fileStore.mts';
import type { Version } from '../store/recordStore.mts';

export interface PageTable {
	app: string;
	appName: string;
	table: string;
	header: string;
	fields: Array<{ name: string; header: string; type: string }>;
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

export type PageRun = Run & { workflow: string | null };
export type PageRequest = LogEntry;

type PageFile = Pick<StoredFile, 'id' | 'name' | 'size' | 'mimetype' | 'picture'> & {
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
	[body: `requests/${number}/body`]: unknown;
	[latest: `tables/${string}/latest?limit=${number}`]: PageRecord[];
	[record: `tables/${string}/records/${string}`]: PageRecord;
	[history: `tables/${string}/history?record=${string}`]: Version[];
}

/** Reads an endpoint of the administration API. @throws {Error} where there is no such thing */
export type Get = <Path extends keyof Endpoints>(path: Path) => Promise<Endpoints[Path]>;

/** What a section of the page shows. */
export interface ViewInput {
	get: Get;
	tables: PageTable[];
	/** The route's parts after the section's name. */
	rest: string[];
}

export interface View {
	title: string;
	nodes: HTMLElement[];
}

/** What a cell of a grid holds. */
export type Cell = Node | string | number | null | undefined;
