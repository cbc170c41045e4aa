/**
 * `bulk/` writes many records: from rows to an outcome for each. It does not know where rows come
 * from or where outcomes go.
 *
 *     const pipeline = new WritePipeline({ client, at, table }, links, options);
 *     const plan = await pipeline.plan(rows); // checks all rows, sends nothing
 *     await pipeline.write(plan, (index, outcome) => …);
 *
 *     rows ─▶ links ─▶ plan ─▶ match ─▶ send ─▶ resolve ─▶ outcomes
 *
 * A run may write several portions of rows, one after the other. Each learns from those before it:
 * batch size, parallel requests, linked records.
 */
import type { DefinedTable, FieldDefinition, PlatformRecord } from '../api/types';
import { MAX_PAGE_SIZE } from '../api/endpoints';
import { tableAt } from '../api/table';
import { importKeyOf } from '../fields';
import { resolveTimeZone } from '../fields/timeZone';
import { ServiceError, serviceErrorOrThrow } from '../transport/errors';
import { isObject } from '../transport/json';
import { listed } from '../transport/messageText';
import { createPause } from '../transport/pause';
import { afterProof, proveKey, type Proof } from './send/proveKey';
import type { LinkResolver } from './links/linkResolver';
import { MatchedWriter } from './match/writeMatched';
import { isSuccess, notSent } from './outcome';
import { planRecords } from './plan/plan';
import { ValueNotices } from './plan/valueNotices';
import { isAppending } from './resolve/compare';
import { lookUp } from './resolve/lookup';
import { writeMany, WriteSession, type OnOutcome, type Write } from './send/write';
import type { Entry, ItemOutcome, Plan, PlanInput, RowProblem, RowTask, Task } from './terms';

/**
 * Gets what became of a row, once.
 *
 * @param record the planned record; undefined if the row has problems
 */
export type OnRow = (index: number, outcome: ItemOutcome, record?: Entry) => void;

const valuesOfRow = ({ values }: PlanInput) => values;

export class WritePipeline {
	private readonly session: WriteSession;
	private readonly notices: ValueNotices;

	/**
	 * @param links keeps what it looked up for later portions
	 */
	constructor(
		private readonly target: DefinedTable,
		private readonly links: LinkResolver,
		private readonly options: RowTask,
	) {
		this.session = new WriteSession(options);
		this.notices = new ValueNotices(options.planning.unit);
		// The limit includes look-ups: a piece of work may run several at once.
		if (options.parallelRequests > 0) target.client.limitParallel(options.parallelRequests);
	}

	/** The IDs of the records that these rows and the planned ones link to by name. */
	async linkedIds(rows: PlanInput[]): Promise<Iterable<string>> {
		await this.links.resolve(this.target.table, rows, this.options.linkRules);
		return this.links.linkedIds;
	}

	/** Whether writing the records again could add something twice. */
	addsTwice(records: Entry[]): boolean {
		return records.some((record) => isAppending(record, this.target.table.fields));
	}

	/**
	 * Plans rows. Writes nothing, but looks up linked records.
	 *
	 * @param problems of rows that could not be read
	 * @throws {InputError} if no row at all could be written
	 * @throws {ServiceError} if linked records can't be looked up
	 */
	async plan(rows: PlanInput[], problems: RowProblem[] = []): Promise<Plan> {
		const { matching, mode } = this.options;
		const createsRows = (matching?.ifMissing ?? mode) === 'create';
		this.links.startPortion();
		const plan = await planRows(this.target, this.links, this.options, rows, createsRows);
		for (const problem of problems) plan.problems.push(problem);
		const pause = createPause();
		plan.notices = this.notices.add(plan);
		await pause();
		return plan;
	}

	/** The keys that identify rows, even if a row has other problems, and the rows without any. */
	async planKeys(rows: PlanInput[], keys: FieldDefinition[]) {
		const names = new Set(keys.map(({ name }) => name));
		const onlyKeys = rows.map(({ index, id, values }) => ({
			index,
			id,
			values: isObject(values)
				? Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))
				: values,
		}));
		await resolveTimeZone(this.target, onlyKeys.map(valuesOfRow));
		const { records, problems } = await planRecords(this.target.table, onlyKeys, {
			...this.options.planning,
			duplicates: 'merge',
			mayBeEmpty: true,
		});
		return { records, unknown: problems.map(({ index }) => index) };
	}

	/**
	 * The records of entries as they are stored, by import key or by ID.
	 *
	 * @param entries at most a page
	 */
	async stored(entries: Entry[]): Promise<Map<Entry, PlatformRecord[]>> {
		const key = importKeyOf(this.target.table);
		return await lookUp(this.target, key ? [key] : [], entries, { loads: 'allFields' });
	}

	/**
	 * Writes planned rows.
	 *
	 * @returns why it stopped early, if it did: the next portion would not be sent either
	 * @throws what `onRow` throws
	 */
	async write(plan: Plan, onRow: OnRow): Promise<ServiceError | undefined> {
		const { options, session } = this;
		const { matching, planning } = options;
		const rows = new Portion(plan, session, onRow, planning.unit);
		const onOutcome: OnOutcome = (record, outcome) => rows.report(record.index, outcome, record);
		const prepare = async (records: Entry[]) => {
			const writing = { records, problems: [] as RowProblem[] };
			if (!options.dryRun) await this.links.createMissing(writing, this.target.table);
			rows.reportProblems(writing.problems);
			return writing.records;
		};
		// If records are matched first, linked ones are created later, only for those that are written.
		const records = matching ? plan.records : await prepare(plan.records);
		rows.reportProblems(plan.problems);
		if (matching && !session.stopped) {
			await new MatchedWriter(this.asWrite(), matching, prepare, onOutcome).run(records);
		} else await this.writeProven(records, onOutcome);
		rows.reportMerged();
		return session.stopped;
	}

	/**
	 * Writes records. If the user named the import key, it is proven first: with a record that exists,
	 * else with the first one that can be written, whose outcome then waits for the proof.
	 */
	private async writeProven(records: Entry[], onOutcome: OnOutcome): Promise<void> {
		const { target, options, session } = this;
		const facts = tableAt(target.client, target.at).learned;
		const key = importKeyOf(target.table);
		let next = 0;
		if (!session.stopped && options.provesKey && key && facts.importKey !== key.name) {
			const first = records.slice(0, MAX_PAGE_SIZE);
			const stored = await lookUp(target, [key], first, { loads: 'keys' }).catch(
				serviceErrorOrThrow,
			);
			// A token may write and not read.
			if (stored instanceof ServiceError && stored.delivery !== 'rejected') {
				session.stopped = stored;
			}
			const matches = stored instanceof ServiceError ? undefined : stored;
			let proof: Proof | undefined = [...(matches ?? [])].find(([, found]) => found.length > 0);
			let written: ItemOutcome | undefined;
			for (; !proof && next < records.length && !session.stopped; next += 1) {
				const record = records[next]!;
				await writeMany(this.asWrite(), [record], (entry, outcome) => {
					if (!isSuccess(outcome) || !outcome.id) onOutcome(entry, outcome);
					else [proof, written] = [[record, [{ id: outcome.id }]], outcome];
				});
			}
			const { unit } = options.planning;
			if (proof && !session.stopped) {
				session.stopped = await proveKey(target, key.name, proof, written, unit);
			}
			if (proof && !session.stopped) facts.importKey = key.name;
			if (proof && written) {
				const [record] = proof;
				const wasNew = matches?.get(record)?.length === 0;
				const isLast = next === records.length;
				const proven = afterProof(written, session.stopped, wasNew, isLast);
				session.stopped = proven.stopped;
				onOutcome(record, proven.outcome);
			}
		}
		await writeMany(this.asWrite(), records.slice(next), onOutcome);
	}

	/**
	 * Updates records by their IDs, whatever the rows are matched on.
	 *
	 * @param records each with an id
	 * @param outcomeOf gets what became of a record, once; returns what that means for the run
	 * @returns why it stopped early, if it did
	 */
	async update(records: Entry[], outcomeOf: (record: Entry, outcome: ItemOutcome) => ItemOutcome) {
		const { session } = this;
		const changes = { mode: 'update', matching: undefined, skipUnchanged: false } as const;
		await writeMany(this.asWrite(changes), records, (record, outcome) =>
			session.note(outcomeOf(record, outcome)),
		);
		return session.stopped;
	}

	private asWrite(changes: Partial<Task> = {}): Write {
		const { target, session, options } = this;
		return { target, session, task: { ...options, ...changes } };
	}
}

/** The rows of a portion, as their outcomes are known. Rows that share a record share its outcome. */
class Portion {
	private readonly byIndex = new Map<number, { outcome: ItemOutcome; record?: Entry }>();

	constructor(
		private readonly plan: Plan,
		private readonly session: WriteSession,
		private readonly onRow: OnRow,
		private readonly unit: 'item' | 'row' = 'item',
	) {}

	report(index: number, outcome: ItemOutcome, record?: Entry) {
		if (this.plan.merged.size > 0) this.byIndex.set(index, { outcome, record });
		this.session.note(outcome);
		this.onRow(index, outcome, record);
	}

	reportProblems(all: RowProblem[]) {
		const byRow = new Map<number, RowProblem[]>();
		for (const problem of all) {
			const others = byRow.get(problem.index);
			if (others) others.push(problem);
			else byRow.set(problem.index, [problem]);
		}
		for (const [index, problems] of byRow) {
			const { hint = 'Correct the item and run it again.', field, key, remedy } = problems[0]!;
			const text = listed(problems.map(({ message }) => message));
			const message = notSent(index, text, this.unit);
			const only = problems.length === 1 ? { remedy } : {};
			this.report(index, { outcome: 'failed', message, hint, field, key, ...only });
		}
	}

	/** A row that was merged into a later one shares its outcome. */
	reportMerged() {
		for (const [index, mergedInto] of this.plan.merged) {
			const { outcome, record } = this.byIndex.get(mergedInto)!;
			const message = `Merged into ${this.unit} ${mergedInto}, which has the same key and did not succeed: ${outcome.message!}`;
			const failed = isSuccess(outcome) ? {} : { notAttempted: true, message };
			this.report(index, { ...outcome, mergedInto, ...failed }, record);
		}
	}
}

/**
 * Plans rows, also one that is sent in another way, such as with its files.
 *
 * @param createsRows as for `LinkResolver.resolve`
 * @throws as `WritePipeline.plan` does
 */
export async function planRows(
	target: DefinedTable,
	links: LinkResolver,
	{ linkRules, planning }: Pick<RowTask, 'linkRules' | 'planning'>,
	rows: PlanInput[],
	createsRows = false,
): Promise<Plan> {
	const { table } = target;
	await resolveTimeZone(target, rows.map(valuesOfRow));
	await links.learnFor(table, rows);
	const resolved = await links.resolve(table, rows, linkRules, createsRows);
	return await planRecords(table, resolved, planning);
}
