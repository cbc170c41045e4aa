/**
 * One poll of the trigger: read, decide, move the cursor. The state moves only after everything
 * was read, in one step, so that a poll that fails changes nothing and polls that overlap tell
 * each change once.
 */
import { createHash } from 'node:crypto';
import {
	tryToParseDateTime,
	type IDataObject,
	type INodeExecutionData,
	type IPollFunctions,
} from 'n8n-workflow';

import { createClient, DEFAULT_TIMEOUT_S } from '../execution/createClient';
import { toFailure, toNodeError } from '../execution/itemResults';
import { filterOf } from '../execution/filterInput';
import { recordOutput } from '../execution/recordOutput';
import {
	LIMITS,
	selectChanges,
	type Change,
	type ChangeKind,
	type ChangeOptions,
	type ChangeState,
	type Limits,
} from '../changes/tracker';
import { ChangePages, readChanges, startFromNow, startFromTime } from '../changes/reader';
import type { PlatformRecord, TableAddress } from '../api/types';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { readLatestChange, readPage, type RecordQuery } from '../api/records';
import type { ApiClient } from '../transport/client';
import { DEFAULT_MAXIMUM, DEFAULT_OVERLAP_S } from './parameters';

export interface PollLimits extends Limits {
	/** How long a poll may wait in all to repeat calls, in seconds. */
	maxWaitS: number;
}

/** n8n repeats a failed poll by itself, with a back-off; a poll only waits a little. */
export const POLL_LIMITS: Readonly<PollLimits> = { ...LIMITS, maxWaitS: 20 };

/** Of the time that n8n gives a poll, the part after which no further page is read. */
const BUDGET_SHARE = 0.6;

/** For n8n versions that don't tell how long a poll may take. */
const DEFAULT_BUDGET_MS = 4 * 60_000;

const KINDS: Record<string, ChangeKind[]> = {
	created: ['created'],
	updated: ['updated'],
	createdOrUpdated: ['created', 'updated'],
};

interface Watch {
	at: TableAddress;
	reading: RecordQuery;
	/** Fields in the output; all where empty. */
	shown: string[];
	changes: ChangeOptions;
	/** Another table, filter or saved view is another watch: it starts anew. */
	identity: string;
}

/** What is kept in the workflow's static data. */
interface SavedState {
	identity: string;
	state: ChangeState;
}

const hash = (value: unknown) =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

const digestOf =
	(fields: string[]) =>
	(record: PlatformRecord): string =>
		hash(fields.map((name) => getOwn(record.fields, name) ?? null)).slice(0, 11);

/** What names the records that are watched, as it stands in the workflow: expressions unresolved. */
const SELECTION = ['filterMode', 'matchType', 'conditions', 'filterTree', 'options.savedView'];

function identityOf(context: IPollFunctions, baseUrl: unknown, at: TableAddress): string {
	const values = SELECTION.map((name) => {
		// A filter that says `today` is the same filter tomorrow.
		const value: unknown = context.getNodeParameter(name, null, { rawExpressions: true });
		return value || null;
	});
	return hash([baseUrl, at, ...values]);
}

async function readWatch(context: IPollFunctions): Promise<Watch> {
	const read = (name: string): unknown => context.getNodeParameter(name, null) ?? undefined;
	const locator = (name: string) => {
		const value = context.getNodeParameter(name, '', { extractValue: true });
		return typeof value === 'string' ? value.trim() : '';
	};
	const option = <T>(name: string, fallback: T) =>
		context.getNodeParameter(`options.${name}`, fallback) as T;
	const number = (name: string, least: number, fallback: number) => {
		const value = Number(option<unknown>(name, fallback));
		return Number.isFinite(value) ? Math.max(least, value) : fallback;
	};
	const at = { application: locator('application') || undefined, table: locator('table') };
	if (at.table === '') throw new InputError("'Table' is empty", { field: 'Table' });
	const shown = option<string[]>('fieldsToLoad', []);
	const watched = option<string[]>('watchedFields', []);
	const { baseUrl } = await context.getCredentials('dataPlatformApi');
	return {
		at,
		shown,
		reading: {
			filter: filterOf(read),
			savedView: option<string>('savedView', ''),
			fields: shown.length > 0 ? [...new Set([...shown, ...watched])] : [],
		},
		changes: {
			kinds: new Set(KINDS[String(read('triggerOn'))] ?? KINDS.createdOrUpdated!),
			overlapMs: number('overlap', 0, DEFAULT_OVERLAP_S) * 1000,
			maximum: number('maximum', 1, DEFAULT_MAXIMUM),
			...(watched.length > 0 && { digest: digestOf(watched) }),
		},
		identity: identityOf(context, baseUrl, at),
	};
}

const toItem = ({ shown }: Watch, { kind, record }: Change): INodeExecutionData => {
	const fields =
		shown.length === 0
			? record.fields
			: Object.fromEntries(shown.map((name) => [name, getOwn(record.fields, name) ?? null]));
	return { json: { event: kind, ...recordOutput({ ...record, fields }) } };
};

/** A time without a zone is meant in the workflow's. */
function parseTime(value: unknown, zone: string): number | undefined {
	try {
		return tryToParseDateTime(value, zone).toMillis();
	} catch {
		return undefined;
	}
}

function startDate(context: IPollFunctions): number {
	const date = parseTime(context.getNodeParameter('startDate', ''), context.getTimezone());
	if (date !== undefined) return date;
	throw new InputError("'Date' is no date", {
		field: 'Date',
		hint: 'Choose a date, or write it as 2026-11-21T00:00:00Z.',
	});
}

/** The state that a watch begins with. */
async function firstState(
	context: IPollFunctions,
	client: ApiClient,
	pages: ChangePages,
	{ at, changes }: Watch,
): Promise<ChangeState> {
	switch (context.getNodeParameter('startFrom')) {
		case 'beginning':
			return { emitted: {} };
		case 'date':
			return startFromTime(startDate(context));
		default:
			return await startFromNow(pages, await readLatestChange(client, at), changes.overlapMs);
	}
}

/** A manual test: the newest record that matches; the cursor stays where it is. */
async function sample(client: ApiClient, watch: Watch): Promise<INodeExecutionData[]> {
	const [record] = await readPage(
		client,
		watch.at,
		{ ...watch.reading, sort: 'modified(desc)' },
		{ limit: 1, skip: 0 },
	);
	if (record) {
		const kind = record.created === record.modified ? 'created' : 'updated';
		return [toItem(watch, { kind, record })];
	}
	throw new InputError('No record matches', {
		hint: 'Add a record in the platform, or widen the filter, to see what the trigger gives.',
	});
}

async function look(
	context: IPollFunctions,
	limits: PollLimits,
): Promise<INodeExecutionData[] | undefined> {
	const started = Date.now();
	const timeout = context.getNodeParameter('options.timeout', DEFAULT_TIMEOUT_S) as number;
	const seconds = { timeout, maxRetryWait: limits.maxWaitS };
	const client = await createClient(context, seconds, 'The next polls try again.');
	const watch = await readWatch(context);
	if (context.getMode() === 'manual') return await sample(client, watch);

	const memory = context.getWorkflowStaticData('node');
	const saved = () => {
		const known = memory.watch as unknown as SavedState | undefined;
		return known?.identity === watch.identity ? known.state : undefined;
	};
	const save = (state: ChangeState) => {
		memory.watch = { identity: watch.identity, state } as unknown as IDataObject;
	};
	const { at, reading, changes: settings } = watch;
	const pages = new ChangePages(client, at, reading, limits);
	const known = saved();
	const state = known ?? (await firstState(context, client, pages, watch));
	if (!known && context.getNodeParameter('startFrom') === 'now') {
		save(saved() ?? state);
		return undefined;
	}
	const budget = context.getPollBudgetMs?.() ?? DEFAULT_BUDGET_MS;
	const hasTime = () => Date.now() - started < budget * BUDGET_SHARE;
	const found = await readChanges(pages, state, settings, hasTime, limits);
	// Another poll may have moved the state meanwhile: what it told is not told again.
	const taken = selectChanges(saved() ?? state, found, settings, limits);
	save(taken.state);
	return taken.changes.map((change) => toItem(watch, change));
}

/**
 * The trigger's `poll`; null where there is nothing to tell.
 *
 * @param limits other than n8n's, for tests
 */
export async function poll(
	context: IPollFunctions,
	limits: PollLimits = POLL_LIMITS,
): Promise<INodeExecutionData[][] | null> {
	const result = await look(context, limits).catch((error: unknown) => toFailure(error));
	if (result === undefined) return null;
	if (!Array.isArray(result)) throw toNodeError(context.getNode(), result);
	return result.length > 0 ? [result] : null;
}
