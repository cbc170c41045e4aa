import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, RecordFate } from '../api/request.mts';
import type { Json, JsonObject } from '../state/model.mts';
import { Problem, tooLarge } from '../api/errors.mts';
import type { MetFault } from './registry.mts';
import type { Fault, RecordChoice } from './rules.mts';

/** What happens on the wire instead of, or to, an answer. */
export type Wire =
	| { kind: 'reset' }
	| { kind: 'hang' }
	| { kind: 'answer'; answer: Answer }
	| { kind: 'truncated'; answer: Answer; bytes: number | undefined }
	| { kind: 'wrongLength'; answer: Answer; by: number };

const htmlPage = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n';

/** Serves a request with the faults it met: before the write, on records, after the write. */
export async function serveWith(
	met: MetFault[],
	body: unknown,
	serve: () => Promise<Wire>,
): Promise<Wire> {
	const faults = met.map(({ fault }) => fault);
	for (const fault of faults) {
		if (fault.kind === 'slowBefore') await sleep(fault.ms);
		refuse(fault, body);
		const wire = 'afterWrite' in fault && fault.afterWrite ? undefined : instead(fault);
		if (wire) return wire;
	}
	const served = await serve();
	if (served.kind !== 'answer') return served;
	let { answer } = served;
	for (const fault of faults) {
		if (fault.kind === 'slowAfter') await sleep(fault.ms);
		if (fault.kind === 'resetAfter') return { kind: 'reset' };
		if (fault.kind === 'truncate') return { kind: 'truncated', answer, bytes: fault.bytes };
		if (fault.kind === 'wrongLength') return { kind: 'wrongLength', answer, by: fault.by };
		if (fault.kind === 'fewerRecords')
			answer = withData(answer, (data) => fewer(data, fault.count));
		if (fault.kind === 'moreRecords') answer = withData(answer, (data) => more(data, fault.count));
		const wire = 'afterWrite' in fault && fault.afterWrite ? instead(fault) : undefined;
		if (wire) return wire;
	}
	return { kind: 'answer', answer };
}

/** What the met faults do to one record of a bulk request. */
export function fateIn(met: MetFault[], index: number, fields: JsonObject): RecordFate {
	for (const { fault } of met) {
		if (fault.kind === 'skipRecords' && isChosen(fault, index, fields)) return 'skip';
		if (fault.kind === 'failRecords' && isChosen(fault, index, fields)) {
			return {
				failWith: fault.message ?? 'This record is refused by a fault.',
				withIndex: fault.withIndex ?? true,
			};
		}
	}
	return 'write';
}

/** Throws a Problem when the fault refuses the whole batch for what stands in it. */
function refuse(fault: Fault, body: unknown): void {
	const bulk = (body as { bulk?: Array<{ fields: JsonObject }> } | undefined)?.bulk;
	if (!Array.isArray(bulk)) return;
	if (fault.kind === 'refuseAbove' && bulk.length > fault.records) {
		const problem = tooLarge(`At most ${fault.records} records are taken in one request.`);
		throw new Problem(fault.status ?? 413, problem.items);
	}
	if (fault.kind !== 'refuseBatch') return;
	const index = bulk.findIndex((item, at) => isChosen(fault, at, item.fields));
	if (index === -1) return;
	throw new Problem(fault.status ?? 400, [
		{
			type: 'info',
			id: 'fieldValidationException',
			message: 'The batch is refused for one of its records.',
			...(fault.withIndex ? { RecordIndex: index } : {}),
		},
	]);
}

/** The answer that stands in for the true one, if the fault has one. */
function instead(fault: Fault): Wire | undefined {
	switch (fault.kind) {
		case 'resetBefore':
			return { kind: 'reset' };
		case 'hang':
			return { kind: 'hang' };
		case 'html':
			return plain(fault.status ?? 502, 'text/html; charset=utf-8', htmlPage);
		case 'empty':
			return { kind: 'answer', answer: { status: fault.status ?? 200 } };
		case 'redirect': {
			const headers = { location: fault.location };
			return { kind: 'answer', answer: { status: fault.status ?? 307, headers } };
		}
		case 'status':
			return { kind: 'answer', answer: statusAnswer(fault) };
		default:
			return undefined;
	}
}

function statusAnswer(fault: Fault & { kind: 'status' }): Answer {
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

function plain(status: number, type: string, content: string): Wire {
	return { kind: 'answer', answer: { status, headers: { 'content-type': type }, content } };
}

/** A choice without any condition is every record. */
function isChosen(choice: RecordChoice, index: number, fields: JsonObject): boolean {
	const { indexes, field, values } = choice;
	if (indexes && !indexes.includes(index)) return false;
	if (field === undefined) return true;
	if (!Object.hasOwn(fields, field)) return false;
	const held = JSON.stringify(fields[field]);
	return !values || values.some((value) => JSON.stringify(value) === held);
}

function withData(answer: Answer, change: (data: Json[]) => Json[]): Answer {
	const body = answer.body as JsonObject | undefined;
	if (!Array.isArray(body?.data)) return answer;
	return { ...answer, body: { ...body, data: change(body.data) } };
}

function fewer(data: Json[], count = 1): Json[] {
	return data.slice(0, Math.max(0, data.length - count));
}

/** Records that nobody sent: copies of the first one, or made up, under ids of their own. */
function more(data: Json[], count = 1): Json[] {
	const now = new Date().toISOString();
	const first = (data[0] ?? { created: now, modified: now, ver: 0 }) as JsonObject;
	const extra = Array.from({ length: count }, () => ({ ...first, id: crypto.randomUUID() }));
	return [...data, ...extra];
}
