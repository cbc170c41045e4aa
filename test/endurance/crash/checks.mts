/** What must be true after a round, according to what the sandbox has stored. */

import { type Execution, type ExecutionItem, outputItems } from '../../../harness/n8nApi.mts';
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { FILE_FIELDS } from './sandboxHost.mts';
import { type Case, fileOf, type Good } from './sourceServer.mts';
import { uploadNode, WRITE } from './workflows.mts';

const byKey = (records: StoredRecord[], key: string) => new Map(records.map((record) => [String(record.fields[key]), record]));

/** Keys that several records have. */
export function duplicateKeys(records: StoredRecord[], key: string): string[] {
	const seen = new Set<unknown>();
	return records
		.map(({ fields }) => fields[key])
		.filter((value) => seen.has(value) || !seen.add(value))
		.map(String);
}

/** Keys whose record is missing or does not hold the last value that was sent. */
export function missingKeys(records: StoredRecord[], wanted: Iterable<Good>): string[] {
	const stored = byKey(records, 'sku');
	return [...wanted]
		.filter(({ sku, name, amount }) => {
			const fields = stored.get(sku)?.fields;
			return fields?.name !== name || fields.amount !== amount;
		})
		.map(({ sku }) => sku);
}

/** Cases that do not have their file exactly this many times in a field. */
export function checkFileCounts(records: StoredRecord[], cases: Case[], field: string) {
	const stored = byKey(records, 'number');
	const missing: string[] = [];
	const several: string[] = [];
	for (const { number } of cases) {
		const { name, bytes } = fileOf(number);
		const files = (stored.get(number)?.fields[field] ?? []) as Array<{ fileName: string; fileSize: number }>;
		const right = files.filter(({ fileName, fileSize }) => fileName === name && fileSize === bytes.length);
		if (right.length === 0) missing.push(number);
		if (files.length > 1) several.push(number);
	}
	return { missing, several };
}

const OUTCOMES = ['inserted', 'updated', 'unchanged', 'written', 'failed', 'unknown'] as const;
export type Outcomes = Record<(typeof OUTCOMES)[number], number>;

interface NodeOutput {
	outcome?: string;
	id?: string;
	sku?: string;
	details?: { outcome?: string; key?: string };
}

/** The node's outcome for each item of a sync, compared with the records before and after it. */
export function checkOutcomes(
	execution: Execution,
	wanted: Good[],
	before: StoredRecord[],
	after: StoredRecord[],
): { wrong: string[]; outcomes: Outcomes } {
	const [old, now] = [byKey(before, 'sku'), byKey(after, 'sku')];
	const items = [...outputItems(execution, WRITE), ...outputItems(execution, WRITE, 1)];
	const outcomes = Object.fromEntries(OUTCOMES.map((name) => [name, 0])) as Outcomes;
	const wrong: string[] = [];
	if (items.length !== wanted.length) {
		wrong.push(`${items.length} items came out of ${wanted.length}`);
	}
	for (const { json } of items) {
		const { outcome: good, sku, details } = json as NodeOutput;
		const outcome = (good ?? details?.outcome ?? '') as keyof Outcomes;
		const key = String(sku ?? details?.key);
		const [was, is] = [old.get(key)?.ver ?? -1, now.get(key)?.ver ?? -1];
		outcomes[outcome] += 1;
		const isTrue = {
			inserted: was < 0 && is >= 0,
			updated: was >= 0 && is > was,
			unchanged: was >= 0 && is === was,
			written: is >= 0,
			failed: is === was,
			unknown: true,
		}[outcome];
		if (isTrue !== true) wrong.push(`${key} ${outcome}, version ${was} before, ${is} after`);
	}
	return { wrong, outcomes };
}

const numberOf = ({ json }: ExecutionItem) => String((json as { number?: unknown }).number);

/** The node's outcomes of uploads, compared with the stored files. */
export function checkUploads(execution: Execution, cases: Case[], after: StoredRecord[]) {
	const sent = outputItems(execution, WRITE).map(numberOf);
	const wrong: string[] = [];
	const tally = { stored: 0, refused: 0, unknown: 0 };
	for (const field of FILE_FIELDS) {
		const { missing, several } = checkFileCounts(after, cases, field);
		const [absent, twice] = [new Set(missing), new Set(several)];
		const node = uploadNode(field);
		for (const item of outputItems(execution, node)) {
			const number = numberOf(item);
			tally.stored += 1;
			if (absent.has(number)) wrong.push(`${field} of ${number} is reported as uploaded, but not stored`);
			if (twice.has(number)) wrong.push(`${field} of ${number} is there twice`);
		}
		for (const { json } of outputItems(execution, node, 1)) {
			const number = sent[(json.details as { item: number }).item]!;
			const message = String(json.error);
			if (/^(It is not known|Unknown whether)/.test(message)) tally.unknown += 1;
			else {
				tally.refused += 1;
				if (!absent.has(number)) wrong.push(`${field} of ${number} is there: ${message}`);
			}
		}
		const reported = [0, 1].reduce((sum, output) => sum + outputItems(execution, node, output).length, 0);
		if (reported !== sent.length) wrong.push(`${reported} of ${sent.length} uploads to ${field} have an outcome`);
	}
	return { wrong, tally };
}
