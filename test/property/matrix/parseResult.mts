/** The node's result of a run: for each item, and the error if it stopped. */
import { createRequire } from 'node:module';
import type { INodeExecutionData } from 'n8n-workflow';
import type * as Core from 'n8n-core';
import type { RunResult } from '../../support/engine/outsideJest.mts';
import { hash } from './scenarios/attachments.mts';
import type { Output } from './scenarios/scenario.mts';

const require = createRequire(import.meta.url);
const { Container } = require('@n8n/di') as { Container: { get<T>(type: unknown): T } };
const { BinaryDataService } = require('n8n-core') as typeof Core;

export type ItemResult =
	| { kind: 'done'; outputs: Output[] }
	| { kind: 'failed' | 'unknown'; message: string }
	/** After the item that stopped the run. */
	| { kind: 'notReached' };

/** An output item that comes from no input item. */
export interface OtherResult {
	outcome: string;
	id?: string;
}

export interface ParsedResult {
	items: ItemResult[];
	/** What comes from no input item. */
	others: OtherResult[];
	/** For a run that stopped: how many items it reports as done, and up to which one. */
	stop?: { item: number | undefined; message: string; done: number; through: number };
	/** Errors in the result's format. */
	shapeErrors: string[];
}

/** Text from a program error, which no message to a user contains. */
const RAW =
	/undefined|\[object |is not (a function|iterable|defined)|Cannot read|of null|Unexpected (token|end|non)|JSON at position|NaN|call stack/;

async function outputOf({ json, binary = {} }: INodeExecutionData): Promise<Output> {
	const files: Output['files'] = {};
	for (const [name, data] of Object.entries(binary)) {
		const store = Container.get<InstanceType<typeof BinaryDataService>>(BinaryDataService);
		files[name] = hash(await store.getAsBuffer(data));
	}
	return { json, files };
}

/** What is wrong with an error's message. */
export function messageErrors(message: string): string[] {
	if (message.trim() === '') return ['an error without a message'];
	return RAW.test(message) ? [`an error that is no message for a user: ${message}`] : [];
}

export async function parseResult(result: RunResult, size: number, onError: string): Promise<ParsedResult> {
	const { error } = result;
	if (error) return parseStop(error, size, onError);
	const shapeErrors: string[] = [];
	const items: ItemResult[] = Array.from({ length: size }, () => ({ kind: 'notReached' }));
	const others: OtherResult[] = [];
	const sides = [result.output('Data Platform', 0), result.output('Data Platform', 1)];
	for (const [side, entries] of sides.entries()) {
		let last = -1;
		for (const entry of entries) {
			const { pairedItem } = entry;
			if (Array.isArray(pairedItem) && pairedItem.length === 0) {
				const { outcome, id, details, error } = entry.json;
				if (typeof error === 'string') shapeErrors.push(...messageErrors(error));
				others.push((details ?? { outcome, id }) as OtherResult);
				last = size;
				continue;
			}
			const index = typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : -1;
			if (index < last) shapeErrors.push(`output ${side} is not in order`);
			last = index;
			const known = items[index];
			if (!known) {
				shapeErrors.push(`an output item is paired with item ${index}`);
				continue;
			}
			if (entry.json.error === undefined) {
				if (side === 1) shapeErrors.push(`item ${index} is a success on the error output`);
				const output = await outputOf(entry);
				if (known.kind === 'done') known.outputs.push(output);
				else if (known.kind === 'notReached') items[index] = { kind: 'done', outputs: [output] };
				else shapeErrors.push(`item ${index} has a success and an error`);
				continue;
			}
			const isRouted = (side === 1) === (onError === 'continueErrorOutput');
			if (!isRouted) shapeErrors.push(`the error of item ${index} is on output ${side}`);
			if (known.kind !== 'notReached') shapeErrors.push(`item ${index} has more than an error`);
			const { outcome, item } = (entry.json.details ?? {}) as { outcome?: string; item?: number };
			if (item !== index) shapeErrors.push(`the error of item ${index} names item ${item}`);
			const message = `${String(entry.json.error)} (${String(entry.json.message ?? 'no hint')})`;
			shapeErrors.push(...messageErrors(message));
			items[index] = { kind: outcome === 'unknown' ? 'unknown' : 'failed', message };
		}
	}
	const missing = items.flatMap(({ kind }, index) => (kind === 'notReached' ? [index] : []));
	if (missing.length > 0) shapeErrors.push(`there is no outcome for items ${missing.join(', ')}`);
	return { items, others, shapeErrors };
}

/** The content of the error's `context.details`. */
interface StopDetails {
	item?: number;
	/** The record that it is about, if that belongs to no item. */
	id?: string;
	outcome?: string;
	items?: number;
	done?: number;
	confirmedThroughItem?: number | null;
}

function parseStop(error: NonNullable<RunResult['error']>, size: number, onError: string): ParsedResult {
	const shapeErrors = messageErrors(error.message);
	if (onError !== 'stopWorkflow') shapeErrors.push(`the run stopped: ${error.message}`);
	const index = error.context?.itemIndex;
	const item = typeof index === 'number' ? index : undefined;
	const details = error.context?.details as StopDetails | undefined;
	if (details?.items !== size) shapeErrors.push('the error does not say how many items there were');
	if (details?.item !== item) shapeErrors.push(`the details name item ${details?.item}, not ${item}`);
	const done = details?.done ?? 0;
	const through = details?.confirmedThroughItem ?? -1;
	const items: ItemResult[] = Array.from({ length: size }, () => ({ kind: 'notReached' }));
	const isAboutRecord = item === undefined && details?.id !== undefined;
	if (item === undefined || item >= size) {
		if (!isAboutRecord) shapeErrors.push(`the error names item ${item}`);
	} else items[item] = { kind: details?.outcome === 'unknown' ? 'unknown' : 'failed', message: error.message };
	const others = isAboutRecord ? [{ outcome: String(details.outcome), id: details.id }] : [];
	return { items, others, stop: { item, message: error.message, done, through }, shapeErrors };
}
