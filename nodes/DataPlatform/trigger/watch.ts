/**
 * What a trigger node watches, as its parameters say.
 */
import { createHash } from 'node:crypto';
import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import type { PlatformRecord, TableAddress } from '../api/types';
import type { RecordQuery } from '../api/records';
import type { Change, ChangeKind, ChangeOptions } from '../changes/tracker';
import {
	DEFAULT_CHECK_MINUTES,
	DEFAULT_MAX_SHARE,
	DEFAULT_MAXIMUM,
	DEFAULT_OVERLAP_S,
} from '../descriptions/changeOptions';
import { changeOutput, requireDate, selectionValues, START_FROM } from '../execution/changeInput';
import { filterOf } from '../execution/filterInput';
import { holdsExpression, parameterText, pickedApplication } from '../execution/locator';
import { CREDENTIAL, DEFAULT_TIMEOUT_S } from '../execution/createClient';
import { recordOutput, type RecordOutput } from '../execution/recordOutput';
import { queryHint } from '../execution/recordQuery';
import { requireChoice, toNumber } from '../execution/run';
import { baseOrigin } from '../transport/allowedOrigins';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';

/** A longer one would overflow a timer. */
const MAX_TIMEOUT_S = 24 * 86_400;

const TRIGGER_ON = [
	'createdOrUpdated',
	'created',
	'updated',
	'createdUpdatedOrDeleted',
	'deleted',
] as const;

const KINDS: Record<(typeof TRIGGER_ON)[number], ChangeKind[]> = {
	created: ['created'],
	updated: ['updated'],
	createdOrUpdated: ['created', 'updated'],
	createdUpdatedOrDeleted: ['created', 'updated'],
	deleted: [],
};

export interface DeletionOptions {
	/** How much time lies between two checks, at least. */
	intervalMs: number;
	/** In percent of the watched records. */
	maxShare: number;
}

export interface Watch {
	at: TableAddress;
	query: RecordQuery;
	/** Fields in the output; all if empty. */
	outputFields: string[];
	shape: RecordOutput;
	changes: ChangeOptions;
	/** Watched fields that a record which was read does not hold. */
	missingFields: ReadonlySet<string>;
	/** Whether changes are emitted; otherwise only deletions are. */
	emitsChanges: boolean;
	/** Where deletions are emitted. */
	deletions?: DeletionOptions;
	/** Another table, filter or saved view is another watch: it begins anew. */
	identity: string;
}

const hash = (value: unknown) =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

const digestOf =
	(fields: string[], missing: Set<string>) =>
	(record: PlatformRecord): string => {
		for (const name of fields) if (!Object.hasOwn(record.fields, name)) missing.add(name);
		return hash(fields.map((name) => getOwn(record.fields, name) ?? null)).slice(0, 11);
	};

function identityOf(context: IPollFunctions, origin: string, at: TableAddress): string {
	const values = selectionValues((name) =>
		context.getNodeParameter(name, null, { rawExpressions: true }),
	);
	return hash([origin, at, ...values]);
}

/** The table that a node's two locators choose. @throws {InputError} where none is chosen */
export function readTableAddress(context: Pick<IPollFunctions, 'getNodeParameter'>): TableAddress {
	const rawApplication = context.getNodeParameter('application', null, { rawExpressions: true });
	const application = pickedApplication(
		context.getNodeParameter('application', null),
		rawApplication,
	);
	const table = parameterText(context.getNodeParameter('table', null), 'table', 'Table');
	if (table === '') {
		throw new InputError("'Table' is empty", {
			field: 'Table',
			hint: 'Choose a table, or correct the expression in it.',
		});
	}
	return { application, table };
}

/** A number of the options; the default if it is empty or no number. */
function numberOption(
	context: Pick<IPollFunctions, 'getNodeParameter'>,
	name: string,
	min: number,
	fallback: number,
): number {
	const number = toNumber(context.getNodeParameter(`options.${name}`, fallback));
	return Number.isFinite(number) ? Math.max(min, number as number) : fallback;
}

/** How long one request may take, in seconds. */
export const readTimeout = (context: Pick<IPollFunctions, 'getNodeParameter'>): number =>
	Math.min(numberOption(context, 'timeout', 1, DEFAULT_TIMEOUT_S), MAX_TIMEOUT_S);

/** Names of fields; an expression may also give them as text, separated by commas. */
function fieldsOption(context: IPollFunctions, name: string, label: string): string[] {
	const value = context.getNodeParameter(`options.${name}`, []) as unknown;
	const list = typeof value === 'string' ? value.split(',') : (value ?? []);
	if (Array.isArray(list) && list.every((entry) => typeof entry === 'string')) {
		return list.map((entry) => entry.trim()).filter((entry) => entry !== '');
	}
	throw new InputError(`'${label}' must be a list of field names, not ${JSON.stringify(value)}`, {
		field: label,
		hint: 'Choose fields from the list, or correct the expression in it.',
	});
}

/**
 * The saved view that narrows down what is watched; '' where none is set. An expression in it may
 * not return nothing: more would be emitted than the user wants.
 *
 * @throws {InputError}
 */
function readSavedView(context: IPollFunctions): string {
	const name = 'options.savedView';
	const label = 'Saved View Name or ID';
	const text = parameterText(context.getNodeParameter(name, null), 'savedView', label);
	const raw: unknown = context.getNodeParameter(name, null, { rawExpressions: true });
	if (text !== '' || !holdsExpression(raw)) return text;
	throw new InputError(`'${label}' is empty: its expression returned nothing`, {
		field: label,
		hint: 'Correct the expression, or remove it.',
	});
}

/** A parameter with a fixed set of values. @throws {InputError} where an expression gives another */
function choice<T extends string>(
	context: IPollFunctions,
	name: string,
	label: string,
	values: readonly T[],
): T {
	return requireChoice(context.getNodeParameter(name, values[0]), label, values);
}

/** The form of records that the parameter Simplify says. @throws {InputError} */
export function outputShape(context: Pick<IPollFunctions, 'getNodeParameter'>): RecordOutput {
	const isSimple: unknown = context.getNodeParameter('simple', true);
	if (typeof isSimple === 'boolean') return recordOutput(isSimple);
	throw new InputError("'Simplify' must be true or false", {
		field: 'Simplify',
		hint: 'Correct the expression in it.',
	});
}

const readTriggerOn = (context: IPollFunctions) =>
	choice(context, 'triggerOn', 'Trigger On', TRIGGER_ON);

/** Where watching starts: now where there is nothing to emit but deletions. @throws {InputError} */
export const readStartFrom = (context: IPollFunctions) =>
	readTriggerOn(context) === 'deleted'
		? 'now'
		: choice(context, 'startFrom', 'Start From', START_FROM);

/** @throws {InputError} */
export async function readWatch(context: IPollFunctions): Promise<Watch> {
	const read = (name: string): unknown => context.getNodeParameter(name, null) ?? undefined;
	const at = readTableAddress(context);
	const outputFields = fieldsOption(context, 'fieldsToLoad', 'Output Field Names or IDs');
	const watchedFields = fieldsOption(context, 'watchedFields', 'Watched Fields');
	const missingFields = new Set<string>();
	const triggerOn = readTriggerOn(context);
	const emitsDeletions = triggerOn === 'deleted' || triggerOn === 'createdUpdatedOrDeleted';
	const { baseUrl } = await context.getCredentials(CREDENTIAL);
	const selection = { filter: filterOf(read), savedView: readSavedView(context) };
	return {
		at,
		outputFields,
		shape: outputShape(context),
		query: {
			...selection,
			fields: outputFields.length > 0 ? [...new Set([...outputFields, ...watchedFields])] : [],
			hint: queryHint({ ...selection, fields: outputFields }),
		},
		changes: {
			kinds: new Set(KINDS[triggerOn]),
			overlapMs: numberOption(context, 'overlap', 0, DEFAULT_OVERLAP_S) * 1000,
			maximum: numberOption(context, 'maxRecordsPerPoll', 1, DEFAULT_MAXIMUM),
			...(watchedFields.length > 0 && { digest: digestOf(watchedFields, missingFields) }),
		},
		missingFields,
		emitsChanges: triggerOn !== 'deleted',
		...(emitsDeletions && {
			deletions: {
				intervalMs:
					numberOption(context, 'deletionCheckInterval', 0, DEFAULT_CHECK_MINUTES) * 60_000,
				maxShare: numberOption(context, 'maxDeletedShare', 0, DEFAULT_MAX_SHARE),
			},
		}),
		identity: identityOf(context, baseOrigin(String(baseUrl)), at),
	};
}

/** The output item of a change. */
export const toItem = (
	{ outputFields, shape }: Pick<Watch, 'outputFields' | 'shape'>,
	change: Change,
): INodeExecutionData => ({ json: changeOutput(shape, outputFields)(change) });

/** Of a record that is gone only its id is known. */
export const toDeletedItem = (id: string): INodeExecutionData => ({
	json: { event: 'deleted', id },
});

/** *Date* as ms since 1970. @throws {InputError} */
export const readStartDate = (context: IPollFunctions): number =>
	requireDate(context.getNodeParameter('startDate', ''), context.getTimezone());
