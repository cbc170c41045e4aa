/**
 * What a trigger node watches, as its parameters say.
 */
import { createHash } from 'node:crypto';
import { tryToParseDateTime, type INodeExecutionData, type IPollFunctions } from 'n8n-workflow';

import type { PlatformRecord, TableAddress } from '../api/types';
import type { RecordQuery } from '../api/records';
import type { Change, ChangeKind, ChangeOptions } from '../changes/tracker';
import { filterOf } from '../execution/filterInput';
import { parameterText, pickedApplication } from '../execution/locator';
import { recordOutput } from '../execution/recordOutput';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { DEFAULT_MAXIMUM, DEFAULT_OVERLAP_S } from './parameters';

const KINDS: Record<string, ChangeKind[]> = {
	created: ['created'],
	updated: ['updated'],
	createdOrUpdated: ['created', 'updated'],
};

export interface Watch {
	at: TableAddress;
	query: RecordQuery;
	/** Fields in the output; all if empty. */
	outputFields: string[];
	changes: ChangeOptions;
	/** Another table, filter or saved view is another watch: it begins anew. */
	identity: string;
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

/** The table that a node's two locators choose. @throws {InputError} where none is chosen */
export function readTableAddress(context: Pick<IPollFunctions, 'getNodeParameter'>): TableAddress {
	const rawApplication = context.getNodeParameter('application', null, { rawExpressions: true });
	const application = pickedApplication(
		context.getNodeParameter('application', null),
		rawApplication,
	);
	const table = parameterText(context.getNodeParameter('table', null), 'table', 'Table');
	if (table === '') throw new InputError("'Table' is empty", { field: 'Table' });
	return { application, table };
}

/** @throws {InputError} */
export async function readWatch(context: IPollFunctions): Promise<Watch> {
	const read = (name: string): unknown => context.getNodeParameter(name, null) ?? undefined;
	const option = <T>(name: string, fallback: T) =>
		context.getNodeParameter(`options.${name}`, fallback) as T;
	const number = (name: string, least: number, fallback: number) => {
		const value = Number(option<unknown>(name, fallback));
		return Number.isFinite(value) ? Math.max(least, value) : fallback;
	};
	const at = readTableAddress(context);
	const outputFields = option<string[]>('fieldsToLoad', []);
	const watchedFields = option<string[]>('watchedFields', []);
	const { baseUrl } = await context.getCredentials('dataPlatformApi');
	return {
		at,
		outputFields,
		query: {
			filter: filterOf(read),
			savedView: option<string>('savedView', ''),
			fields: outputFields.length > 0 ? [...new Set([...outputFields, ...watchedFields])] : [],
		},
		changes: {
			kinds: new Set(KINDS[String(read('triggerOn'))] ?? KINDS.createdOrUpdated!),
			overlapMs: number('overlap', 0, DEFAULT_OVERLAP_S) * 1000,
			maximum: number('maximum', 1, DEFAULT_MAXIMUM),
			...(watchedFields.length > 0 && { digest: digestOf(watchedFields) }),
		},
		identity: identityOf(context, baseUrl, at),
	};
}

/** The output item of a change. */
export function toItem(
	{ outputFields }: Pick<Watch, 'outputFields'>,
	{ kind, record }: Change,
): INodeExecutionData {
	const fields =
		outputFields.length === 0
			? record.fields
			: Object.fromEntries(outputFields.map((name) => [name, getOwn(record.fields, name) ?? null]));
	return { json: { event: kind, ...recordOutput({ ...record, fields }) } };
}

/** A time without a zone is one of the zone given. */
function parseTime(value: unknown, zone: string): number | undefined {
	try {
		return tryToParseDateTime(value, zone).toMillis();
	} catch {
		return undefined;
	}
}

/** *Date* as ms since 1970. @throws {InputError} */
export function readStartDate(context: IPollFunctions): number {
	const date = parseTime(context.getNodeParameter('startDate', ''), context.getTimezone());
	if (date !== undefined) return date;
	throw new InputError("'Date' is not a date", {
		field: 'Date',
		hint: 'Choose a date, or write it as 2026-11-21T00:00:00Z.',
	});
}
