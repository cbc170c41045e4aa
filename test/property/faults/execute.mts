/** Runs a case through n8n's engine against a sandbox, and collects the node's results and the stored records. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import {
	automatic,
	picked,
	runOperation,
	type RunResult,
} from '../../support/engine/outsideJest.mts';
import type { SandboxSlot, Truth } from './sandboxSlot.mts';
import { APP, TABLE } from './constants.mts';
import { openGateway } from './otherWriter.mts';
import type { Case } from './schedule.mts';

export const OUTCOMES = [
	'inserted',
	'updated',
	'unchanged',
	'written',
	'found',
	'skipped',
	'notFound',
	'failed',
	'unknown',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The node's result for one item. */
export interface ItemResult {
	index: number;
	outcome: Outcome;
	id?: string;
	created?: string;
	modified?: string;
	ver?: number;
	mergedInto?: number;
	before?: IDataObject;
	after?: IDataObject;
	/** Why it did not succeed. */
	message?: string;
}

/** The error of a run that stopped. */
export interface StopError {
	message: string;
	description: string;
	/** What it contains for programs. */
	details: {
		item?: number;
		outcome?: string;
		items?: number;
		done?: number;
		confirmedThroughItem?: number | null;
	};
	item: number | undefined;
}

export interface Evidence extends Truth {
	before: StoredRecord[];
	results: ItemResult[];
	summary: IDataObject | undefined;
	stop: StopError | undefined;
	/** Errors in the output's format. */
	shapeErrors: string[];
}

const OPERATIONS = {
	create: 'create',
	upsert: 'upsert',
	update: 'update',
	replace: 'update',
};

function parameters({ mode, isDirect, options, matching }: Case): INodeParameters {
	const { skipUnchanged, duplicates, ...rest } = options;
	return {
		resource: 'record',
		operation: OPERATIONS[mode],
		application: picked(isDirect ? '' : APP),
		table: picked(TABLE),
		columns: automatic as unknown as INodeParameters,
		options: mode === 'create' ? rest : { ...rest, ...matching, skipUnchanged, duplicates },
		...(mode === 'update' && { recordId: '={{ $json.id }}', updateMode: 'partial' }),
		...(mode === 'replace' && { recordId: '={{ $json.id }}', updateMode: 'replace' }),
	};
}

export async function execute(slot: SandboxSlot, testCase: Case): Promise<Evidence> {
	const { settings, table, records, rules, items, onError, tries } = testCase;
	const before = await slot.prepare(settings, table, records, rules);
	const { token, writeOnlyToken } = slot.address;
	const { otherWrite } = testCase;
	const gateway = otherWrite && (await openGateway(slot.address, otherWrite));
	const { baseUrl } = gateway ?? slot.address;
	const result = await runOperation(
		{ baseUrl, token: testCase.canRead ? token : writeOnlyToken },
		{
			parameters: parameters(testCase),
			items: items.map(({ json }) => json as IDataObject),
			onError,
			...(tries > 1 && { retry: { maxTries: tries } }),
		},
	);
	gateway?.close();
	const truth = await slot.truth();
	return { ...truth, before, ...parseResult(result, testCase) };
}

function parseResult(
	result: RunResult,
	{ onError, items, options }: Case,
): Pick<Evidence, 'results' | 'summary' | 'stop' | 'shapeErrors'> {
	const { error } = result;
	if (error) {
		const item = error.context?.itemIndex;
		const stop = {
			message: error.message,
			description: error.description ?? '',
			details: (error.context?.details ?? {}) as StopError['details'],
			item: typeof item === 'number' ? item : undefined,
		};
		return { results: [], summary: undefined, stop, shapeErrors: [] };
	}
	const nothing = { results: [], stop: undefined, summary: undefined };
	const good = result.output('Data Platform', 0);
	const bad = result.output('Data Platform', 1);
	// A run that could not start returns an error for each item instead.
	if (options.output === 'summary' && good[0]?.json.requests !== undefined) {
		const summary = good[0].json;
		const failures = ['notFound', 'failed', 'unknown'].reduce((sum, outcome) => {
			return sum + Number(summary[outcome]);
		}, 0);
		const isSplit = onError === 'continueErrorOutput';
		const shapeErrors: string[] = [];
		if (good.length !== 1) shapeErrors.push('the summary is not one item');
		if (bad.length !== (isSplit ? failures : 0)) {
			shapeErrors.push(`${bad.length} items are on the error output, ${failures} did not succeed`);
		}
		return { ...nothing, summary, shapeErrors };
	}
	const shapeErrors: string[] = [];
	const sides = onError === 'continueErrorOutput' ? [good, bad] : [good];
	const results = sides.flatMap((side, output) => {
		const indexes = side.map(({ pairedItem }) => pairedIndex(pairedItem));
		if (indexes.some((index, at) => at > 0 && index <= indexes[at - 1]!)) {
			shapeErrors.push(`output ${output} is not in order: ${indexes.join(', ')}`);
		}
		return side.map((entry, at) => {
			const isError = entry.json.error !== undefined;
			if (onError === 'continueErrorOutput' && isError !== (output === 1)) {
				shapeErrors.push(`item ${indexes[at]} is on output ${output}`);
			}
			return parseItem(entry.json, indexes[at]!);
		});
	});
	const indexes = results.map(({ index }) => index).sort((a, b) => a - b);
	if (indexes.join() !== items.map(({ index }) => index).join()) {
		shapeErrors.push(`the output is paired with items ${indexes.join(', ')}`);
	}
	return { ...nothing, results, shapeErrors };
}

function pairedIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : -1;
}

function parseItem(json: IDataObject, index: number): ItemResult {
	if (json.error === undefined) return { ...(json as unknown as ItemResult), index };
	const details = (json.details ?? {}) as Partial<ItemResult> & { item?: number };
	const { outcome = 'failed', id, item } = details;
	const message = `${String(json.error)} (${String(json.message ?? 'no hint')})`;
	return { index: item === index ? index : -1, outcome, id, message };
}
