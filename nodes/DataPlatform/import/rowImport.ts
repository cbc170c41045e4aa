/**
 * `import/` writes the rows of a file to a table. It reads the next portion while it writes one, so
 * that memory does not grow with the file.
 *
 *     portions ─▶ RowReader ─▶ plan and write (bulk/pipeline) ─▶ counts, rejected rows
 *
 *     const result = await new RowImport({ portions, reader, pipeline, rejected, … }).run();
 */
import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { TextIndex } from '../api/idSet';
import { isSuccess, NAMES_NO_FIELD, noCounts } from '../bulk/outcome';
import type { WritePipeline } from '../bulk/pipeline';
import type { FileRow } from '../rows/readRows';
import type { RejectedLines } from '../rows/rejectedRows';
import { InputError, ServiceError } from '../transport/errors';
import { counted, shortened } from '../transport/messageText';
import type { GrowingFile } from '../input/binaryStore';
import { FailureKinds } from '../run/failureKinds';
import type { ProgressLog } from '../run/progressLog';
import { simplifiedRecord } from '../input/recordOutput';
import type { RowReader } from './rowValues';
import type { Entry, ItemOutcome, Outcome, Plan, PlanInput } from '../bulk/terms';
import { omitUndefined } from '../transport/json';
import { LABELS } from '../labels';

interface ImportParts {
	/** The name of the file, for the log. */
	name: string;
	portions: AsyncGenerator<FileRow[]>;
	reader: RowReader;
	pipeline: WritePipeline;
	lines: RejectedLines;
	rejected: GrowingFile;
	progress: ProgressLog;
	/** What identifies a row's record, to reject later rows for it; not set if these are written. */
	identityOf?: (record: Entry) => string | undefined;
	/** How many of the first rows to show as they are read. */
	previewRows: number;
	/** Stop after this many rejected rows; 0 for never. */
	stopAfterRejected: number;
	/** The row before the first one to import. */
	before: number;
	/** Why to write no more, if the execution was canceled. */
	cancellation: () => ServiceError | undefined;
}

export interface ImportResult {
	/** How many rows have each outcome, and how many there are. */
	counts: Record<Outcome | 'rows' | 'rejected', number>;
	/** How many of them were merged into a later row, by outcome. */
	merged: Partial<Record<Outcome, number>>;
	/** All rows up to this one are written or rejected. */
	confirmedThroughRow: number;
	/** How many later rows are written nevertheless: parallel requests don't end in order. */
	writtenAfter: number;
	/** How many later rows have an unknown outcome and are not in the file of rejected rows. */
	unknownAfter: number;
	/** The first rows, with their outcomes. */
	preview: IDataObject[];
	/** Why rows were rejected. */
	kinds: FailureKinds;
	/** Notices about the keys of all rows. */
	notices: string[];
	/** The headers of read-only fields. */
	readOnly: Set<string>;
	/** The first row with an unknown outcome. */
	firstUnknownRow?: number;
	/** Undefined if no row was rejected, or the file could not be stored. */
	rejectedFile?: IBinaryData;
	/** Why it stopped early. */
	interruption?: { error: unknown };
	/** It is interrupted after the last row: there is nothing to continue with. */
	isAtEnd?: boolean;
	/** Importing its rows again could add something twice. */
	addsTwice: boolean;
}

/**
 * All rows up to this one have a known outcome: rows with an unknown one are in the file of
 * rejected rows.
 */
export const certainThrough = ({
	confirmedThroughRow,
	firstUnknownRow,
}: Pick<ImportResult, 'confirmedThroughRow' | 'firstUnknownRow'>): number =>
	Math.min(confirmedThroughRow, (firstUnknownRow ?? Infinity) - 1);

/** After so many rows with one reason that names no field, the rows are not to blame. */
const ENOUGH_ALIKE = 10;

/** How much text of rejected rows to buffer: a short row may become many columns wide there. */
const TEXT_HELD = 1024 * 1024;

/** Writes the rows of a file and returns their outcomes. */
export class RowImport {
	private readonly result: ImportResult;
	/** The first row of each key. */
	private readonly keys = new TextIndex();

	constructor(private readonly parts: ImportParts) {
		this.result = {
			counts: { ...noCounts(false), rows: 0, rejected: 0 },
			merged: {},
			notices: [],
			confirmedThroughRow: parts.before,
			writtenAfter: 0,
			unknownAfter: 0,
			preview: [],
			kinds: new FailureKinds('row'),
			readOnly: new Set(),
			addsTwice: false,
		};
	}

	/** Does not throw. */
	async run(): Promise<ImportResult> {
		const { result } = this;
		const note = (error: unknown): undefined => {
			result.interruption ??= { error };
		};
		await this.writeAll().catch(note);
		result.rejectedFile = await this.parts.rejected.end().catch(note);
		return result;
	}

	/** @throws why it stopped early */
	private async writeAll() {
		const { portions, progress, name, rejected, stopAfterRejected } = this.parts;
		const { result } = this;
		const read = () => {
			const next = portions.next();
			// Its failure is thrown when the portion is awaited, which may never happen.
			next.catch(() => undefined);
			return next;
		};
		let ahead = read();
		try {
			for (let portion = await ahead; !portion.done; portion = await ahead) {
				const canceled = this.parts.cancellation();
				// If all rows are rejected, no request would notice the cancellation.
				if (canceled) throw canceled;
				ahead = read();
				const { stopped, isComplete } = await this.writePortion(portion.value);
				const isDone = stopped && isComplete && (await ahead).done;
				if (stopped && !isDone) throw stopped;
				if (rejected.failure) throw rejected.failure;
				progress.note(
					() =>
						`Import From File: '${name}' is confirmed through row ${certainThrough(result)}, ${result.counts.rejected} rejected`,
				);
				const { counts, kinds } = result;
				if (stopAfterRejected === 0 || counts.rejected < stopAfterRejected) continue;
				result.isAtEnd = (await ahead).done;
				throw new InputError(
					`${counted(counts.rejected, 'row')} rejected, and '${LABELS.rejectedRowsLimit}' allows no more (${kinds.text()})`,
					{ hint: '' },
				);
			}
		} finally {
			await ahead.catch(() => undefined);
			await portions.return(undefined);
		}
	}

	/** @returns why the writing stopped, and whether the outcomes of all rows are known anyway */
	private async writePortion(rows: FileRow[]) {
		const { reader, pipeline, previewRows } = this.parts;
		const outcomes = new Map<number, ItemOutcome>();
		const sent = new Set<number>();
		const inputs: PlanInput[] = [];
		for (const row of rows) {
			const read = reader.isSkipped(row) ? undefined : reader.read(row);
			if (!read) outcomes.set(row.row, { outcome: 'skipped' });
			else if ('index' in read) inputs.push(read);
			else outcomes.set(row.row, { ...read, outcome: 'failed' });
		}
		const plan = await pipeline.plan(inputs);
		this.result.notices = plan.notices;
		this.rejectKnownKeys(plan);
		this.result.addsTwice ||= pipeline.addsTwice(plan.records);
		for (const header of plan.ignored) this.result.readOnly.add(header);
		const reason = await pipeline.write(plan, (row, outcome, record) => {
			outcomes.set(row, outcome);
			if (record && outcome.mergedInto === undefined) sent.add(row);
		});
		this.addToPreview(rows, outcomes, plan);
		const last = rows.flatMap(({ row }) => (sent.has(row) ? [outcomes.get(row)!] : []));
		const stopped = reason ?? (previewRows > 0 ? undefined : commonReason(last));
		return { stopped, isComplete: await this.take(rows, outcomes, stopped) };
	}

	private addToPreview(rows: FileRow[], outcomes: Map<number, ItemOutcome>, { records }: Plan) {
		const { preview } = this.result;
		for (const { row } of rows.slice(0, this.parts.previewRows - preview.length)) {
			const { outcome, message: error } = outcomes.get(row) ?? {};
			const fields = records.find(({ index }) => index === row)?.fields;
			preview.push(omitUndefined({ row, outcome, error, ...simplifiedRecord({ fields }) }));
		}
	}

	/** Rejects rows for a record that an earlier portion wrote. */
	private rejectKnownKeys(plan: Plan) {
		const { identityOf } = this.parts;
		plan.records = plan.records.filter((record) => {
			const { index } = record;
			const identity = identityOf?.(record);
			const first = identity === undefined ? undefined : this.keys.add(identity, index);
			if (first === undefined) return true;
			const message = `it identifies the same record as row ${first}, by '${shortened(identity!, 100)}'`;
			plan.problems.push({ index, message });
			return false;
		});
	}

	private async take(
		rows: FileRow[],
		outcomes: Map<number, ItemOutcome>,
		stopped: ServiceError | undefined,
	): Promise<boolean> {
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
		return !hasGap;
	}

	/** The line of a row in the file of rejected rows, with its beginning before the first one. */
	private reject(row: FileRow, outcome: ItemOutcome): string {
		const { counts, kinds } = this.result;
		const { lines } = this.parts;
		const { message = 'The record was not written', field } = outcome;
		const rejection = { message, field: field ? shortened(field, 100) : undefined };
		const before = counts.rejected === 0 ? lines.beginning() : '';
		counts.rejected += 1;
		kinds.add(rejection, row.row);
		return before + lines.line(row, rejection);
	}
}

/**
 * The row is to be imported again: it was not sent, was rejected by what stopped the import, or its
 * outcome is unknown because of that. A row that the platform rejected for a reason of its own is not.
 */
function isUnfinished({ outcome, stopsRun, message }: ItemOutcome, stopped?: ServiceError) {
	if (!stopped || outcome === 'unknown') return stopped !== undefined;
	return outcome === 'failed' && (stopsRun || stopped.message.startsWith(`${message};`));
}

/**
 * The platform's reason to write no more, if the last rows that were sent have the same: a limit of
 * records is reached, or it isn't accepting writes.
 */
function commonReason(outcomes: ItemOutcome[]): ServiceError | undefined {
	const { outcome, message = '', hint, status, code } = outcomes.at(-1) ?? {};
	const isUnknown = outcome === 'unknown';
	if (!isUnknown && (outcome !== 'failed' || hint !== NAMES_NO_FIELD)) return undefined;
	const isAlike = (one: ItemOutcome) =>
		one.outcome === outcome && (isUnknown || one.message === message);
	const count = outcomes.length - 1 - outcomes.findLastIndex((one) => !isAlike(one));
	if (count < ENOUGH_ALIKE) return undefined;
	const delivery = isUnknown ? 'ambiguous' : 'rejected';
	const details = { delivery, hint, status, code } as const;
	return new ServiceError(`${message}; the last ${count} rows got the same`, details);
}
