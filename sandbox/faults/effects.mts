import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse, RecordFault } from '../api/request.mts';
import type { Json, JsonObject } from '../state/model.mts';
import { ApiError, tooLarge } from '../api/errors.mts';
import type { MatchedFault } from './registry.mts';
import type { Fault, RecordChoice } from './rules.mts';

/** What happens on the connection: a response, a damaged response, or none. */
export type WireAction =
	| { kind: 'reset' }
	| { kind: 'hang' }
	| { kind: 'respond'; response: ApiResponse }
	| { kind: 'truncate'; response: ApiResponse; bytes: number | undefined }
	| { kind: 'wrongLength'; response: ApiResponse; by: number };

const htmlPage = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n';

/** Serves a request with its matched faults: those before the write, then those after it. */
export async function serveWithFaults(
	matched: MatchedFault[],
	body: unknown,
	serve: () => Promise<WireAction>,
): Promise<WireAction> {
	const faults = matched.map(({ fault }) => fault);
	for (const fault of faults) {
		if (fault.kind === 'slowBefore') await sleep(fault.ms);
		rejectBatch(fault, body);
		const action =
			'afterWrite' in fault && fault.afterWrite ? undefined : replacementResponse(fault);
		if (action) {
			serveLater(fault, serve);
			return action;
		}
	}
	const served = await serve();
	if (served.kind !== 'respond') return served;
	let { response } = served;
	for (const fault of faults) {
		if (fault.kind === 'slowAfter') await sleep(fault.ms);
		if (fault.kind === 'resetAfter') return { kind: 'reset' };
		if (fault.kind === 'truncate') return { kind: 'truncate', response, bytes: fault.bytes };
		if (fault.kind === 'wrongLength') return { kind: 'wrongLength', response, by: fault.by };
		if (fault.kind === 'fewerRecords')
			response = mapData(response, (data) => dropRecords(data, fault.count));
		if (fault.kind === 'moreRecords')
			response = mapData(response, (data) => addRecords(data, fault.count));
		if (fault.kind === 'reorderRecords') response = mapData(response, (data) => data.toReversed());
		const action =
			'afterWrite' in fault && fault.afterWrite ? replacementResponse(fault) : undefined;
		if (action) return action;
	}
	return { kind: 'respond', response };
}

/** Serves a request whose client already has its response, if the fault says so. */
function serveLater(fault: Fault, serve: () => Promise<WireAction>): void {
	const ms = 'writeAfterMs' in fault ? fault.writeAfterMs : undefined;
	if (ms === undefined) return;
	setTimeout(() => void serve().catch(() => undefined), ms).unref();
}

/** What the matched faults do to one record of a bulk request. */
export function recordFaultFor(
	matched: MatchedFault[],
	index: number,
	fields: JsonObject,
): RecordFault {
	for (const { fault } of matched) {
		if (fault.kind === 'skipRecords' && isChosen(fault, index, fields)) return 'skip';
		if (fault.kind === 'failRecords' && isChosen(fault, index, fields)) {
			return {
				failWith: fault.message ?? 'A fault rejected this record.',
				withIndex: fault.withIndex ?? true,
			};
		}
	}
	return 'write';
}

/** Throws an ApiError if the fault rejects the whole batch because of its records. */
function rejectBatch(fault: Fault, body: unknown): void {
	const bulk = (body as { bulk?: Array<{ fields: JsonObject }> } | undefined)?.bulk;
	if (!Array.isArray(bulk)) return;
	if (fault.kind === 'rejectAbove' && bulk.length > fault.records) {
		const { items } = tooLarge(`At most ${fault.records} records are accepted in one request.`);
		throw new ApiError(fault.status ?? 413, items);
	}
	if (fault.kind !== 'rejectBatch') return;
	const index = bulk.findIndex((item, at) => isChosen(fault, at, item.fields));
	if (index === -1) return;
	throw new ApiError(fault.status ?? 400, [
		{
			type: 'info',
			id: 'fieldValidationException',
			message: 'A fault rejected the batch because of one of its records.',
			...(fault.withIndex ? { position: index } : {}),
		},
	]);
}

/** The response that the fault puts in place of the real one, if any. */
function replacementResponse(fault: Fault): WireAction | undefined {
	switch (fault.kind) {
		case 'resetBefore':
			return { kind: 'reset' };
		case 'hang':
			return { kind: 'hang' };
		case 'html':
			return textResponse(fault.status ?? 502, 'text/html; charset=utf-8', htmlPage);
		case 'empty':
			return { kind: 'respond', response: { status: fault.status ?? 200 } };
		case 'redirect': {
			const headers = { location: fault.location };
			return { kind: 'respond', response: { status: fault.status ?? 307, headers } };
		}
		case 'status':
			return { kind: 'respond', response: statusResponse(fault) };
		default:
			return undefined;
	}
}

function statusResponse(fault: Fault & { kind: 'status' }): ApiResponse {
	const { status, body, contentType, retryAfterSeconds, retryAfterDate } = fault;
	const headers: Record<string, string> = {};
	if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
	if (retryAfterDate !== undefined) {
		headers['retry-after'] = new Date(Date.now() + retryAfterDate * 1000).toUTCString();
	}
	if (typeof body === 'string') {
		headers['content-type'] = contentType ?? 'text/plain; charset=utf-8';
		return { status, headers, content: body };
	}
	if (body !== undefined || status < 400) return { status, headers, ...(body && { body }) };
	const item = { type: 'exception', id: 'faultException', message: `A fault: status ${status}.` };
	return { status, headers, body: { errors: [item] } };
}

function textResponse(status: number, type: string, content: string): WireAction {
	return { kind: 'respond', response: { status, headers: { 'content-type': type }, content } };
}

/** Without a condition, every record is chosen. */
function isChosen(choice: RecordChoice, index: number, fields: JsonObject): boolean {
	const { indexes, field, values } = choice;
	if (indexes && !indexes.includes(index)) return false;
	if (field === undefined) return true;
	if (!Object.hasOwn(fields, field)) return false;
	const actual = JSON.stringify(fields[field]);
	return !values || values.some((value) => JSON.stringify(value) === actual);
}

function mapData(response: ApiResponse, change: (data: Json[]) => Json[]): ApiResponse {
	const body = response.body as JsonObject | undefined;
	if (!Array.isArray(body?.data)) return response;
	return { ...response, body: { ...body, data: change(body.data) } };
}

function dropRecords(data: Json[], count = 1): Json[] {
	return data.slice(0, Math.max(0, data.length - count));
}

/** Adds records that were not in the request: copies of the first one, or made up, with new ids. */
function addRecords(data: Json[], count = 1): Json[] {
	const now = new Date().toISOString();
	const first = (data[0] ?? { created: now, modified: now, ver: 0 }) as JsonObject;
	const extra = Array.from({ length: count }, () => ({ ...first, id: crypto.randomUUID() }));
	return [...data, ...extra];
}
