/** Runs a case through n8n's engine against a sandbox, and collects what was told and what is true. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { StoredRecord } from '../../support/sandbox.cts';
import { automatic, picked, runOperation, type RunResult } from './engine.mts';
import type { Lane, Truth } from './sandboxSlot.mts';
import { APP, TABLE } from './constants.mts';
import type { Case } from './schedule.mts';

export const OUTCOMES = [
	'inserted',
	'updated',
	'unchanged',
	'notFound',
	'failed',
	'unknown',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What the node told of one item. */
export interface Told {
	index: number;
	outcome: Outcome;
	id?: string;
	created?: string;
	modified?: string;
	ver?: number;
	supersededBy?: number;
	before?: IDataObject;
	after?: IDataObject;
	/** Why it did not succeed. */
	message?: string;
}

/** What the node told of the whole run, where it stopped. */
export interface Stop {
	message: string;
	description: string;
	item: number | undefined;
}

export interface Evidence extends Truth {
	before: StoredRecord[];
	told: Told[];
	summary: IDataObject | undefined;
	stop: Stop | undefined;
	/** What is wrong with the form of the output already. */
	misshapen: string[];
}

const OPERATIONS = {
	create: 'createMany',
	upsert: 'upsertMany',
	update: 'updateMany',
	replace: 'updateMany',
};

function parameters({ mode, isDirect, options }: Case): INodeParameters {
	const { skipUnchanged, duplicates, ...rest } = options;
	return {
		resource: 'record',
		operation: OPERATIONS[mode],
		application: picked(isDirect ? '' : APP),
		table: picked(TABLE),
		columns: automatic as unknown as INodeParameters,
		options: mode === 'create' ? rest : { ...rest, skipUnchanged, duplicates },
		...(mode === 'update' && { recordId: '={{ $json.id }}', updateMode: 'partial' }),
		...(mode === 'replace' && { recordId: '={{ $json.id }}', updateMode: 'replace' }),
	};
}

export async function execute(lane: Lane, given: Case): Promise<Evidence> {
	const { settings, table, records, rules, items, onError, tries } = given;
	const before = await lane.prepare(settings, table, records, rules);
	const { baseUrl, token, writeOnlyToken } = lane.address;
	const result = await runOperation(
		{ baseUrl, token: given.canRead ? token : writeOnlyToken },
		{
			parameters: parameters(given),
			items: items.map(({ json }) => json as IDataObject),
			onError,
			...(tries > 1 && { retry: { maxTries: tries } }),
		},
	);
	const truth = await lane.truth();
	return { ...truth, before, ...toldBy(result, given) };
}

function toldBy(
	result: RunResult,
	{ onError, items, options }: Case,
): Pick<Evidence, 'told' | 'summary' | 'stop' | 'misshapen'> {
	const { error } = result;
	if (error) {
		const item = error.context?.itemIndex;
		const stop = {
			message: error.message,
			description: error.description ?? '',
			item: typeof item === 'number' ? item : undefined,
		};
		return { told: [], summary: undefined, stop, misshapen: [] };
	}
	const nothing = { told: [], stop: undefined, summary: undefined };
	const good = result.output('Data Platform', 0);
	const bad = result.output('Data Platform', 1);
	// Where nothing could be begun, each item tells why instead.
	if (options.output === 'summary' && good[0]?.json.sent !== undefined) {
		const misshapen = good.length === 1 && bad.length === 0 ? [] : ['the summary is not one item'];
		return { ...nothing, summary: good[0]?.json, misshapen };
	}
	const misshapen: string[] = [];
	const sides = onError === 'continueErrorOutput' ? [good, bad] : [good];
	const told = sides.flatMap((side, output) => {
		const indexes = side.map(({ pairedItem }) => pairedIndex(pairedItem));
		if (indexes.some((index, at) => at > 0 && index <= indexes[at - 1]!)) {
			misshapen.push(`output ${output} is not in order: ${indexes.join(', ')}`);
		}
		return side.map((entry, at) => {
			const isError = entry.json.error !== undefined;
			if (onError === 'continueErrorOutput' && isError !== (output === 1)) {
				misshapen.push(`item ${indexes[at]} is on output ${output}`);
			}
			return toldOf(entry.json, indexes[at]!);
		});
	});
	const indexes = told.map(({ index }) => index).sort((a, b) => a - b);
	if (indexes.join() !== items.map(({ index }) => index).join()) {
		misshapen.push(`the output is paired with items ${indexes.join(', ')}`);
	}
	return { ...nothing, told, misshapen };
}

function pairedIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : -1;
}

function toldOf(json: IDataObject, index: number): Told {
	if (json.error === undefined) return { ...(json as unknown as Told), index };
	const details = (json.details ?? {}) as Partial<Told> & { item?: number };
	const { outcome = 'failed', id, item } = details;
	const message = `${String(json.error)} (${String(json.message ?? 'no hint')})`;
	return { index: item === index ? index : -1, outcome, id, message };
}
