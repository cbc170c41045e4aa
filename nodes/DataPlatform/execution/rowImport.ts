/**
 * Writes the rows of a file: a portion is written while the next one is read, so that memory does
 * not grow with the file.
 */
import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { isSuccess, OUTCOMES, REMOVALS, type ItemOutcome, type Outcome } from '../bulk/outcome';
import type { WritePipeline } from '../bulk/pipeline';
import type { Plan, PlannedRecord, PlanInput } from '../bulk/plan';
import { KeyIndex } from '../rows/keyIndex';
import type { FileRow } from '../rows/readRows';
import type { RejectedLines, Rejection } from '../rows/rejectedRows';
import type { ServiceError } from '../transport/errors';
import { shortened } from '../transport/text';
import type { GrowingFile } from './binaryStore';
import type { ProgressLog } from './progressLog';
import type { RowReader } from './rowValues';

export interface ImportParts {
	/** Of the file, for the log. */
	name: string;
	portions: AsyncGenerator<FileRow[]>;
	reader: RowReader;
	pipeline: WritePipeline;
	lines: RejectedLines;
	rejected: GrowingFile;
	/** Whether the file of rejected rows begins with a header. */
	hasHeader: boolean;
	progress: ProgressLog;
	/** Whether later rows of a record that an earlier one wrote are rejected. */
	rejectsDuplicates: boolean;
	/** Whether rows are told apart by their record's ID. */
	isById: boolean;
	/** Stop once as many rows were rejected; 0 for never. */
	stopAfterRejected: number;
	/** What allows no more of them. */
	limitLabel: string;
	/** The row before the first that counts. */
	before: number;
	/** Why nothing more is to be written, where the execution was canceled. */
	cancellation: () => ServiceError | undefined;
}

/** Why an import broke off. */
export interface BreakOff {
	error: unknown;
	message: string;
}

export interface ImportResult {
	/** How many rows came to each outcome, and how many there are. */
	counts: Record<Outcome | 'rows' | 'rejected', number>;
	/** How many of them share the record of a later row, by outcome. */
	merged: Partial<Record<Outcome, number>>;
	/** The row through which each is written or rejected. */
	confirmedThroughRow: number;
	/** How many rows after that are written all the same: requests at once don't end in their order. */
	writtenAfter: number;
	/** How many rows after that may be written or not, and are not in the file of rejected rows. */
	unknownAfter: number;
	/** The first few rejected rows. */
	errors: IDataObject[];
	/** The headers of fields that can only be read. */
	readOnly: Set<string>;
	/** The first row that may be written or not. */
	firstUnknownRow?: number;
	rejectedFile?: IBinaryData;
	brokenOff?: BreakOff;
	/** Whether writing its rows once more could add something a second time. */
	addsTwice: boolean;
}

/** The row through which everything is certain: rows of unknown outcome are in the file of rejected rows. */
export const certainThrough = ({ confirmedThroughRow, firstUnknownRow }: ImportResult): number =>
	Math.min(confirmedThroughRow, (firstUnknownRow ?? Infinity) - 1);

/** How many rejected rows the report names; the file has them all. */
const ERRORS_SHOWN = 10;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** How much of the rejected rows is held back: short rows may be many columns wide there. */
const TEXT_HELD = 1024 * 1024;

/** An outcome in words of rows: the messages of many-record writes speak of items. */
const inRowWords = (message: string) =>
	message
		.replace(/^Item \d+ was not sent: /, '')
		.replace(/\b([Ii])tem (?=\d)/g, (_, i: string) => (i === 'I' ? 'Row ' : 'row '));

class RowImport {
	private readonly result: ImportResult;
	private readonly keys?: KeyIndex;

	constructor(private readonly parts: ImportParts) {
		const counts = Object.fromEntries(
			[...OUTCOMES, 'rows', 'rejected']
				.filter((name) => !(REMOVALS as readonly string[]).includes(name))
				.map((name) => [name, 0]),
		) as ImportResult['counts'];
		const confirmedThroughRow = parts.before;
		this.result = {
			counts,
			merged: {},
			confirmedThroughRow,
			writtenAfter: 0,
			unknownAfter: 0,
			errors: [],
			readOnly: new Set(),
			addsTwice: false,
		};
		if (parts.rejectsDuplicates) this.keys = new KeyIndex();
	}

	async run(): Promise<ImportResult> {
		const { result } = this;
		try {
			result.brokenOff = await this.writeAll();
		} catch (error) {
			result.brokenOff = { error, message: messageOf(error) };
		}
		try {
			result.rejectedFile = await this.parts.rejected.end();
		} catch (error) {
			result.brokenOff ??= { error, message: messageOf(error) };
		}
		return result;
	}

	private async writeAll(): Promise<BreakOff | undefined> {
		const { portions, progress, name, stopAfterRejected } = this.parts;
		const { result } = this;
		const read = () => {
			const next = portions.next();
			// Its failure is thrown where it is awaited, which may be never.
			next.catch(() => undefined);
			return next;
		};
		let ahead = read();
		try {
			for (let portion = await ahead; !portion.done; portion = await ahead) {
				const canceled = this.parts.cancellation();
				// Rows that are all rejected need no request that would notice it.
				if (canceled) return { error: canceled, message: canceled.message };
				ahead = read();
				const stopped = await this.writePortion(portion.value);
				if (stopped) return { error: stopped, message: stopped.message };
				progress.note(
					() =>
						`Import From File: '${name}' is confirmed through row ${certainThrough(result)}, ${result.counts.rejected} rejected`,
				);
				if (stopAfterRejected > 0 && result.counts.rejected >= stopAfterRejected) {
					return { error: undefined, message: this.tooMany() };
				}
			}
		} finally {
			await ahead.catch(() => undefined);
			await portions.return(undefined);
		}
		return undefined;
	}

	private tooMany(): string {
		const { rejected } = this.result.counts;
		const count = rejected === 1 ? '1 row was' : `${rejected} rows were`;
		return `${count} rejected, and '${this.parts.limitLabel}' allows no more`;
	}

	private async writePortion(rows: FileRow[]): Promise<ServiceError | undefined> {
		const { reader, pipeline } = this.parts;
		const outcomes = new Map<number, ItemOutcome>();
		const inputs: PlanInput[] = [];
		for (const row of rows) {
			const read = reader.read(row);
			if ('index' in read) inputs.push(read);
			else outcomes.set(row.row, { outcome: 'failed', message: read.error, field: read.field });
		}
		const plan = await pipeline.plan(inputs);
		this.rejectKnownKeys(plan);
		this.result.addsTwice ||= pipeline.addsTwice(plan.records);
		for (const header of plan.ignored) this.result.readOnly.add(header);
		const { stopped } = await pipeline.write(plan, {
			onOutcomes: (row, all) => outcomes.set(row, all.find((one) => !isSuccess(one)) ?? all[0]!),
		});
		await this.take(rows, outcomes, stopped);
		return stopped;
	}

	/** Rows of a record that an earlier portion has written. */
	private rejectKnownKeys(plan: Plan) {
		const { keys, parts } = this;
		if (!keys) return;
		const isFirst = ({ index, id, key }: PlannedRecord) => {
			const identity = parts.isById ? id : key;
			if (identity === undefined) return true;
			const first = keys.firstRow(identity, index);
			if (first === undefined) return true;
			const message = `it means the same record as row ${first}, by '${shortened(identity, 100)}'`;
			plan.problems.push({ index, message });
			return false;
		};
		plan.records = plan.records.filter(isFirst);
	}

	private async take(
		rows: FileRow[],
		outcomes: Map<number, ItemOutcome>,
		stopped: ServiceError | undefined,
	) {
		const { result } = this;
		const { counts, merged } = result;
		let hasGap = false;
		let text = '';
		for (const row of rows) {
			const outcome = outcomes.get(row.row);
			if (outcome?.outcome === 'unknown') result.firstUnknownRow ??= row.row;
			if (!outcome || isUnfinished(outcome, stopped)) {
				hasGap = true;
				if (outcome?.outcome === 'unknown') {
					counts.rows += 1;
					counts.unknown += 1;
					result.unknownAfter += 1;
				}
				continue;
			}
			counts.rows += 1;
			counts[outcome.outcome] += 1;
			if (outcome.mergedInto !== undefined && isSuccess(outcome)) {
				merged[outcome.outcome] = (merged[outcome.outcome] ?? 0) + 1;
			}
			if (!hasGap) result.confirmedThroughRow = row.row;
			else if (isSuccess(outcome)) result.writtenAfter += 1;
			if (isSuccess(outcome)) continue;
			text += this.reject(row, outcome);
			if (text.length < TEXT_HELD) continue;
			await this.parts.rejected.write(text);
			text = '';
		}
		if (text !== '') await this.parts.rejected.write(text);
	}

	/** The row's line in the file of rejected rows, and what goes before it. */
	private reject(row: FileRow, outcome: ItemOutcome): string {
		const { counts, errors } = this.result;
		const { lines, hasHeader } = this.parts;
		const { message = 'The record was not written', field } = outcome;
		const rejection: Rejection = { error: inRowWords(message), field: field || undefined };
		const header = counts.rejected === 0 && hasHeader ? lines.first() : '';
		counts.rejected += 1;
		if (errors.length < ERRORS_SHOWN) errors.push({ row: row.row, ...rejection });
		return header + lines.line(row, rejection);
	}
}

/** Whether a row is to be sent again, because of what stopped the import and not of the row itself. */
const isUnfinished = (
	{ outcome, isDerived, mergedInto, message }: ItemOutcome,
	stopped: ServiceError | undefined,
) =>
	stopped !== undefined &&
	(outcome === 'unknown' ||
		(outcome === 'failed' &&
			((isDerived && mergedInto === undefined) || message?.includes(stopped.message) === true)));

/** Writes the rows of a file, and says what became of them. Does not throw. */
export const importRows = async (parts: ImportParts): Promise<ImportResult> =>
	await new RowImport(parts).run();
