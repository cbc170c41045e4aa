/**
 * `bulk/` writes many records: from rows to an outcome for each. It does not know where rows come
 * from or where outcomes go.
 *
 *     const pipeline = new WritePipeline({ client, at, table }, links, options);
 *     const plan = await pipeline.plan(rows); // checks all rows, sends nothing
 *     await pipeline.write(plan, { onOutcomes: (index, outcomes) => … });
 *
 *     rows ─▶ links ─▶ plan ─▶ match ─▶ send ─▶ resolve ─▶ outcomes
 *
 * A run may write several portions of rows, one after the other. Each learns from those before it:
 * batch size, parallel requests, linked records.
 */
import type { FieldDefinition, PlatformRecord, TableDefinition } from '../api/types';
import { MAX_PAGE_SIZE } from '../api/endpoints';
import { tableAt } from '../api/table';
import { importKeyOf } from '../fields';
import { resolveTimeZone } from '../fields/timeZone';
import { appendableFields } from '../fields/values';
import { ServiceError, serviceErrorOrThrow } from '../transport/errors';
import { isObject } from '../transport/json';
import { listed } from '../transport/messageText';
import { collect, createPause } from '../transport/pause';
import type { RequestLimit } from './send/congestion';
import { proveKey } from './send/proveKey';
import type { FailureLimit } from './send/failureLimit';
import type { LinkResolver } from './links/linkResolver';
import { writeMatched } from './match/writeMatched';
import { isSuccess, notSent, notSentItem } from './outcome';
import { planInTurns, planRecords } from './plan/plan';
import { keyNotices } from './plan/keyNotices';
import { isAppending } from './resolve/compare';
import { lookUp } from './resolve/lookup';
import type { LinkRules, Matching, RowTask, Task, WriteTarget } from './writeTask';
import { writeMany, WriteSession, type OnOutcome } from './send/write';
import type { Entry, ItemOutcome, Plan, PlanInput, PlanOptions, Problem } from './terms';

/** Receives the outcomes of a portion of rows. */
export interface OutcomeSink {
	/**
	 * Called before any row of the portion is written, and again after linked records were created.
	 * An error that it throws ends the portion.
	 */
	onPlan?(plan: Plan): void;
	/**
	 * Called once for each row.
	 *
	 * @param index the index of the row
	 * @param outcomes one, or several if all records that the row matches were written
	 * @param record the planned record; undefined if the row has problems
	 */
	onOutcomes(index: number, outcomes: ItemOutcome[], record?: Entry): void;
}

/** The result of a portion. */
export interface PortionResult {
	plan: Plan;
	/** Why the run stopped early, if it did. The next portion would not be sent either. */
	stopped?: ServiceError;
}

const valuesOfRow = ({ values }: PlanInput) => values;

/** By ID. A missing record is no failure. */
const BY_ID: Matching = {
	on: 'recordId',
	ifFound: 'update',
	ifMissing: 'skip',
	multipleMatches: 'error',
};

export class WritePipeline {
	private readonly session: WriteSession;

	/**
	 * @param links keeps what it looked up for later portions
	 */
	constructor(
		private readonly target: WriteTarget,
		private readonly links: LinkResolver,
		private readonly options: RowTask,
	) {
		this.session = new WriteSession(options);
		// The limit includes look-ups: a piece of work may run several at once.
		if (options.parallelRequests > 0) target.client.limitParallel(options.parallelRequests);
	}

	/** How many requests may run at once, as learned from the writes of the run. */
	get requests(): RequestLimit {
		return this.session.congestion.requests;
	}

	/** How many linked records were created so far. */
	get linkedRecordsCreated(): number {
		return this.links.createdCount;
	}

	/** The IDs of the records that these rows and the planned ones link to by name. */
	async linkedIds(rows: PlanInput[]): Promise<Iterable<string>> {
		await this.links.resolve(this.target.table, rows, this.options.linkRules);
		return this.links.linkedIds;
	}

	/** Whether writing the records again could add something twice. */
	addsTwice(records: Entry[]): boolean {
		const appendable = appendableFields(this.target.table.fields);
		return records.some((record) => isAppending(record, { appendable }));
	}

	/**
	 * Plans rows. Writes nothing, but looks up linked records.
	 *
	 * @param problems of rows that could not be read
	 * @throws {InputError} if no row at all could be written
	 * @throws {ServiceError} if linked records can't be looked up
	 */
	async plan(rows: Iterable<PlanInput>, problems: Problem[] = []): Promise<Plan> {
		const { table } = this.target;
		const { linkRules, matching, mode, planning } = this.options;
		const createsRows = (matching?.ifMissing ?? mode) === 'create';
		this.links.startPortion();
		const all = await collect(rows);
		await resolveTimeZone(this.target, all.map(valuesOfRow));
		await this.links.learnFor(table, all);
		const plan = await planInTurns(
			table,
			linkRules.size > 0 ? await this.links.resolve(table, all, linkRules, createsRows) : all,
			planning,
		);
		for (const problem of problems) plan.problems.push(problem);
		const pause = createPause();
		plan.keyNotices = keyNotices(plan, planning.unit);
		await pause();
		return plan;
	}

	/** The keys that identify rows, even if a row has other problems, and the rows without any. */
	async planKeys(rows: Iterable<PlanInput>, keys: FieldDefinition[]) {
		const names = new Set(keys.map(({ name }) => name));
		const onlyKeys = Array.from(rows, ({ index, id, values }) => ({
			index,
			id,
			values: isObject(values)
				? Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))
				: values,
		}));
		await resolveTimeZone(this.target, onlyKeys.map(valuesOfRow));
		const planning = { ...this.options.planning, duplicates: 'merge' as const };
		const { records, problems } = await planInTurns(this.target.table, onlyKeys, planning);
		return { records, unknown: problems.map(({ index }) => index) };
	}

	/**
	 * The records of entries as they are stored, by import key or by ID.
	 *
	 * @param entries at most a page
	 */
	async stored(entries: Entry[]): Promise<Map<Entry, PlatformRecord[]>> {
		const { client, at, table } = this.target;
		const key = importKeyOf(table);
		return await lookUp(client, at, key ? [key] : [], entries, 'allFields');
	}

	/**
	 * Writes planned rows and reports an outcome for each.
	 *
	 * @throws what the sink throws
	 */
	async write(plan: Plan, sink: OutcomeSink): Promise<PortionResult> {
		sink.onPlan?.(plan);
		const { target, options, session } = this;
		const { table } = target;
		const { matching } = options;
		const { failures } = session;
		const outcomes = new PortionOutcomes(plan, sink, failures, options.planning.unit);
		const problems = countRowsWithProblems(plan);
		failures.planned(plan.records.length + plan.merged.size + problems, problems);
		if (failures.reason) {
			outcomes.reportProblems();
			for (const record of plan.records) {
				outcomes.report(record.index, [notSentItem(failures.reason)], record);
			}
			outcomes.reportMerged();
			return { plan, stopped: failures.reason };
		}
		const createLinked = async (writing: Plan) => {
			if (!options.dryRun) await this.links.createMissing(writing, table, options);
		};
		// If records are matched first, linked ones are created later, only for those that are written.
		if (!matching) {
			await createLinked(plan);
			failures.planned(0, countRowsWithProblems(plan) - problems);
			sink.onPlan?.(plan);
		}
		outcomes.reportProblems();
		const stopped = matching
			? await writeMatched(
					target,
					plan,
					{ ...options, matching },
					{
						prepare: createLinked,
						onOutcomes: (record, all) => outcomes.report(record.index, all, record),
					},
					session,
				)
			: await this.writeProven(plan.records, (record, outcome) =>
					outcomes.report(record.index, [outcome], record),
				);
		outcomes.reportMerged();
		return { plan, stopped };
	}

	/**
	 * Writes records. If the user named the import key, it is proven first: with a record that exists,
	 * else with the first one that can be written.
	 */
	private async writeProven(records: Entry[], onOutcome: OnOutcome) {
		const { target, options, session } = this;
		const facts = tableAt(target.client, target.at).learned;
		const key = importKeyOf(target.table);
		let next = 0;
		let stopped: ServiceError | undefined;
		if (options.provesKey && key && facts.importKey !== key.name) {
			const { at, client } = target;
			const first = records.slice(0, MAX_PAGE_SIZE);
			const found = await lookUp(client, at, [key], first, 'keys').catch(serviceErrorOrThrow);
			// A token may write and not read.
			if (found instanceof ServiceError && found.delivery !== 'rejected') stopped = found;
			const matches = found instanceof ServiceError ? undefined : found;
			const idsOf = (record: Entry) => matches?.get(record)?.map(({ id }) => id) ?? [];
			let proof = first.find((record) => idsOf(record).length > 0);
			let ids = proof ? idsOf(proof) : [];
			for (; !proof && next < records.length && !stopped; next += 1) {
				const record = records[next]!;
				const note: OnOutcome = (entry, outcome) => {
					if (isSuccess(outcome) && outcome.id) [proof, ids] = [record, [outcome.id]];
					onOutcome(entry, outcome);
				};
				stopped = await writeMany(target, [record], options, note, session);
			}
			if (proof && !stopped) stopped = await proveKey(target, key, proof, ids, next === 0);
			if (proof && !stopped) facts.importKey = key.name;
		}
		const rest = records.slice(next);
		return (await writeMany(target, rest, options, onOutcome, session, stopped)) ?? stopped;
	}

	/**
	 * Updates records by their IDs, whatever the rows are matched on.
	 *
	 * @param records each with an id
	 * @returns why it stopped early, if it did
	 */
	async update(records: Entry[], onOutcome: OnOutcome): Promise<ServiceError | undefined> {
		const options: Task = {
			...this.options,
			mode: 'update',
			matching: BY_ID,
			skipUnchanged: false,
		};
		const { target, session } = this;
		return await writeMany(target, records, options, onOutcome, session);
	}
}

const countRowsWithProblems = ({ problems }: Plan) =>
	new Set(problems.map(({ index }) => index)).size;

/** Passes on the outcomes of a portion. Rows that share a record share its outcome. */
class PortionOutcomes {
	private readonly byIndex = new Map<number, { outcomes: ItemOutcome[]; record?: Entry }>();

	constructor(
		private readonly plan: Plan,
		private readonly sink: OutcomeSink,
		private readonly failures: FailureLimit,
		private readonly unit: 'item' | 'row' = 'item',
	) {}

	report(index: number, outcomes: ItemOutcome[], record?: Entry) {
		// Rows with problems have no record: they are counted when they are planned.
		const isCounted = record !== undefined && !outcomes.some(({ notAttempted }) => notAttempted);
		if (isCounted) this.failures.resolved(!outcomes.every(isSuccess));
		if (this.plan.merged.size > 0) this.byIndex.set(index, { outcomes, record });
		this.sink.onOutcomes(index, outcomes, record);
	}

	reportProblems() {
		const byRow = new Map<number, Problem[]>();
		for (const problem of this.plan.problems) {
			const earlier = byRow.get(problem.index);
			if (earlier) earlier.push(problem);
			else byRow.set(problem.index, [problem]);
		}
		for (const [index, problems] of byRow) {
			const outcome: ItemOutcome = {
				outcome: 'failed',
				message: notSent(index, listed(problems.map(({ message }) => message)), this.unit),
				hint: problems[0]!.hint ?? 'Correct the item and run it again.',
				field: problems[0]!.field,
			};
			this.report(index, [outcome]);
		}
	}

	/** A row that was merged into a later one shares its outcome. */
	reportMerged() {
		const { merged } = this.plan;
		for (const [index, mergedInto] of merged) {
			const { outcomes, record } = this.byIndex.get(mergedInto)!;
			this.report(
				index,
				outcomes.map((outcome: ItemOutcome) => ({
					...outcome,
					mergedInto,
					...(!isSuccess(outcome) && {
						notAttempted: true,
						message: `Merged into ${this.unit} ${mergedInto}, which has the same key and did not succeed: ${outcome.message!}`,
					}),
				})),
				record,
			);
		}
	}
}

/**
 * Plans one record that is sent in another way, such as with its files: the first steps of a
 * pipeline.
 */
export async function planOne(
	table: TableDefinition,
	row: PlanInput,
	links: LinkResolver,
	linkRules: LinkRules,
	planning: PlanOptions,
): Promise<Plan> {
	await links.learnFor(table, [row]);
	return planRecords(table, await links.resolve(table, [row], linkRules), planning);
}
