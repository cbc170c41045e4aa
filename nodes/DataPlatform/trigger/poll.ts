/**
 * `trigger/` emits changes to n8n: `poll` when n8n asks, `receive` when the platform calls.
 *
 *     state ─▶ read ─▶ select ─▶ store the state ─▶ return the changes
 *
 * n8n stores the state together with the changes, or neither, as far as its scheduler can
 * (docs/changes.md). A poll that fails or is abandoned changes nothing.
 */
import { sleep, type INodeExecutionData, type IPollFunctions } from 'n8n-workflow';

import { readPage } from '../api/pages';
import { isEmptyFilter } from '../api/filters';
import type { ReadDefinition } from '../api/table';
import type { TableDefinition } from '../api/types';
import { ChangePages, readChanges } from '../changes/reader';
import {
	isNew,
	LIMITS,
	selectChanges,
	type ChangeState,
	type Limits,
	type Selection,
} from '../changes/tracker';
import { EXPRESSION_OF_DATE, LABELS } from '../labels';
import { createClient } from '../run/createClient';
import { effortOf, toNodeError } from '../run/ledger';
import { missingThereIn, startDate, startFrom, startState } from '../parameters/changes/changes';
import { toProblem } from '../parameters/describeFailure';
import { checkNames, uncheckedNotice, type NameCheck } from '../parameters/select/fieldNames';
import { timeout } from '../parameters/requests';
import type { RequestStats } from '../transport/client';
import { InputError, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import { omitUndefined } from '../transport/json';
import { PollCoordinator, type PollTurn } from './coordinator';
import { DeletionWatcher } from './deletions';
import { triggerParameters, type TriggerParameters } from './parameters';
import {
	isStored,
	newSavedState,
	readState,
	saveStart,
	saveState,
	unreadableState,
	type SavedState,
} from './savedState';
import { readWatch, toDeletedItem, type Watch } from './watch';

export interface PollLimits extends Limits {
	/** How long a poll may wait in all to retry requests, in seconds. */
	maxRetryWaitS: number;
	/** How long after a poll that failed the next one asks. */
	holdBackMs: number;
}

/** The next polls try again, so one waits only briefly. */
export const POLL_LIMITS: Readonly<PollLimits> = {
	...LIMITS,
	maxRetryWaitS: 20,
	holdBackMs: 2 * 60_000,
};

/** The budget of a poll that n8n never abandons. */
const UNLIMITED_BUDGET_MS = 5 * 60_000;

/** The share of a poll's time after which it reads no further page. */
const READING_SHARE = 0.6;

/** The share of a poll's time that it may wait for retries. */
const RETRY_SHARE = 0.3;

/** All trigger nodes of this process of n8n. */
const COORDINATOR = new PollCoordinator();

/** The result of a poll. */
interface PollResult {
	items: INodeExecutionData[];
	/** An execution must start even without items, so that n8n stores the state. */
	mustStore?: boolean;
}

/** Also of a poll that leaves it to another one, and of one that is too early. */
const NO_CHANGES: PollResult = { items: [] };

/** A poll's time budget. */
interface Budget {
	deadline: number;
	/** False when it is time to finish. */
	hasTime(): boolean;
	/** n8n drops this poll's state unless the poll starts an execution. */
	isScheduledTask: boolean;
	limits: PollLimits;
}

/** The newest matching record, for a test in the editor. The state stays unchanged. */
async function readSample(watch: Watch): Promise<PollResult> {
	await requireFields(watch);
	const { kinds } = watch.changes;
	const isCreated = kinds.size === 1 && kinds.has('created');
	const query = { ...watch.query, sort: isCreated ? 'created(desc)' : 'modified(desc)' };
	const [record] = await readPage(watch.table, query, { limit: 1, skip: 0 });
	if (!record) {
		throw new InputError('No record matches', {
			hint: 'Add a record in the platform, or widen the filter, to see what the trigger emits.',
		});
	}
	if (!watch.emitsChanges) return { items: [toDeletedItem(record.id)] };
	const kind = isCreated || (kinds.has('created') && isNew(record)) ? 'created' : 'updated';
	const missingThere = await missingThereIn(watch.table, watch.syncState, [record]);
	return { items: [{ json: watch.output({ kind, record, more: missingThere?.(record) }) }] };
}

/**
 * A field that the table does not have would never show a change; a filter on it could mean all
 * records.
 *
 * @throws {InputError} that names it, before the read changes are remembered
 */
async function requireFields({ table, names }: Watch): Promise<void> {
	if (names.length === 0) return;
	const unchecked: NameCheck['unchecked'] = (...about) => {
		table.client.logger.warn(`Data Platform Trigger: ${uncheckedNotice(...about)}`);
	};
	const check = async (of: TableDefinition, definition: ReadDefinition) =>
		await checkNames({ definition, unchecked }, table.with(of), names);
	const failure = await table.checkWithKept(check).catch(serviceErrorOrThrow);
	if (failure) unchecked(names, failure);
}

/**
 * Starting anew would lose what changed since the last execution, and nobody might notice: polls
 * fail until the user says where to go on.
 *
 * @throws {InputError} if n8n has a state that can't be read
 */
function requireReadable(context: IPollFunctions, { emitsChanges, deletions }: Watch): void {
	const unreadable = unreadableState(context);
	if (unreadable === undefined) return;
	const goOn = emitsChanges
		? ` In the copy, set '${LABELS.startFrom}' to 'A Date': the 'modified' of the last record that was emitted, or earlier, as an expression such as ${EXPRESSION_OF_DATE}.`
		: '';
	const lost = deletions ? ' Deletions since then are not emitted.' : '';
	throw new InputError(
		`The stored position of this trigger is damaged, or of another version of this node. It begins with ${unreadable}`,
		{ hint: `Copy the node, and delete the old one.${goOn}${lost}` },
	);
}

/** One poll of a watch. */
class Poll {
	private readonly stored: SavedState | undefined;
	private readonly pages: ChangePages;
	private readonly watcher: DeletionWatcher;

	constructor(
		private readonly context: IPollFunctions,
		private readonly parameters: TriggerParameters,
		private readonly watch: Watch,
		private readonly budget: Budget,
	) {
		this.stored = readState(context);
		this.pages = new ChangePages(watch.table, watch.query, budget.limits);
		this.watcher = new DeletionWatcher(watch, budget);
	}

	async run(coordinator: PollCoordinator): Promise<PollResult> {
		const { context, stored, watch } = this;
		const { identity } = watch;
		const own = stored?.identity === identity ? stored : undefined;
		const turn = coordinator.startPoll(nodeOf(context), identity, own, this.budget.deadline);
		if (!turn) return NO_CHANGES;
		try {
			if (!turn.known) requireReadable(context, watch);
			return await this.emitNext(turn, own !== undefined);
		} finally {
			turn.end();
		}
	}

	/** The start of watching: now, if only deletions are emitted. @throws {InputError} */
	private get startFrom() {
		return this.watch.emitsChanges ? startFrom.of(this.parameters, 0) : 'now';
	}

	private async start(begin: ReturnType<typeof startFrom.of>): Promise<ChangeState> {
		const { table, changes } = this.watch;
		const from = begin === 'date' ? startDate.of(this.parameters, 0) : begin;
		return await startState(table, this.pages, changes.overlapMs, from);
	}

	/** @param isStored whether n8n has a state of this watch */
	private async emitNext(turn: PollTurn, isStored: boolean): Promise<PollResult> {
		const { watch, stored } = this;
		const { known } = turn;
		if (!known && this.startFrom === 'now') await requireFields(watch);
		// Changes first: a record that is created in between is then both emitted and watched.
		const { changes, state } = await this.nextChanges(known);
		const found = await this.watcher.next(known?.deletions, changes, state?.backlog !== undefined);
		const isUsed = changes.length + found.deleted.length > 0 || found.mustStore === true;
		const isFiltered = watch.query.filter !== undefined && !isEmptyFilter(watch.query.filter);
		if (watch.missingFields.size > 0 || (isUsed && isFiltered)) await requireFields(watch);
		if (!turn.isCurrent()) return NO_CHANGES;
		// Before the state is remembered: changes whose items can't be made must come again.
		const items = [
			...changes.map((change) => ({ json: watch.output(change) })),
			...found.deleted.map(toDeletedItem),
		];
		const parts = omitUndefined({ state, deletions: found.saved });
		// Store the start once more if n8n dropped it or another execution overwrote it; also that of
		// changes or deletions if the user added them to the events.
		const isAdded = Object.keys(parts).some((part) => !Object.hasOwn(known ?? {}, part));
		const begins = known && isStored ? isAdded : this.isStartUnique;
		const emits = items.length > 0;
		const mustStore =
			!emits && (found.mustStore === true || (begins && this.budget.isScheduledTask));
		const startsExecution = emits || mustStore;
		let next: SavedState;
		if (known && !startsExecution && !begins) next = { ...known, ...parts };
		else next = newSavedState(watch.identity, parts, known ?? stored);
		// A start counts at once: if n8n drops it, the next poll stores it again.
		turn.finish(next, emits || (mustStore && known !== undefined));
		// Only together with changes: n8n may store the state of an idle poll after that of a later
		// one.
		if (startsExecution) saveState(this.context, next);
		else if (begins) saveStart(this.context, next);
		if (found.failure !== undefined) throw found.failure;
		return { items, mustStore };
	}

	/**
	 * The start can't be determined again. One at the beginning or at a fixed date can, but an expression
	 * may return another date.
	 */
	private get isStartUnique(): boolean {
		const { watch, parameters, startFrom } = this;
		const isFixed = startFrom === 'beginning' || !parameters.isExpression(startDate);
		return startFrom === 'now' || watch.deletions !== undefined || !isFixed;
	}

	/**
	 * Reads until there are changes to emit, everything is read, or the time is up. n8n may drop the
	 * state of a poll that emits nothing, and the next poll would read the same changes again.
	 */
	private async nextChanges(
		known: SavedState | undefined,
	): Promise<Omit<Selection, 'state'> & Partial<Selection>> {
		const { watch, budget } = this;
		const options = watch.changes;
		if (!watch.emitsChanges) return { changes: [] };
		// Events that were added to those that are watched already are watched from now on.
		const begin = known ? 'now' : this.startFrom;
		let state = known?.state ?? (await this.start(begin));
		if (!known?.state && begin === 'now') return { changes: [], state };
		for (;;) {
			const read = await readChanges(this.pages, state, options, () => budget.hasTime());
			const missingThere = await missingThereIn(watch.table, watch.syncState, read.records);
			const selection = selectChanges(state, read, { ...options, missingThere }, budget.limits);
			if (selection.changes.length > 0 || read.isWhole || !budget.hasTime()) return selection;
			state = selection.state;
		}
	}
}

const tooSlow = (budgetMs: number) =>
	new ServiceError(
		`The poll did not finish within the ${Math.round(budgetMs / 1000)} s that n8n allows`,
		{
			delivery: 'notApplied',
			hint: 'The platform responds slowly. The next polls try again; nothing is lost.',
		},
	);

/** Identifies the workflow and the node. */
const nodeOf = (context: IPollFunctions) =>
	[context.getWorkflow().id, context.getNode().id].join(' ');

/** A poll that ends itself before n8n abandons it. @throws {NodeApiError | NodeOperationError} */
async function pollWithinBudget(
	context: IPollFunctions,
	limits: PollLimits,
	coordinator: PollCoordinator,
): Promise<PollResult> {
	const started = Date.now();
	const budgetMs = context.getPollBudgetMs?.() ?? UNLIMITED_BUDGET_MS;
	const expired = new AbortController();
	const ended = new AbortController();
	// Rejects if the poll ends before its time is up.
	void sleep(budgetMs, ended.signal).then(
		() => expired.abort(),
		() => undefined,
	);
	const parameters = triggerParameters(context);
	const budget = {
		deadline: started + budgetMs,
		hasTime: () => Date.now() - started < budgetMs * READING_SHARE,
		isScheduledTask: budgetMs < UNLIMITED_BUDGET_MS,
		limits,
	};
	const node = nodeOf(context);
	// Set if a poll that fails is followed by others later: an activation must fail.
	let setup: string | undefined;
	let stats: RequestStats | undefined;
	const pollInTime = async () => {
		// Once polls fail, each asks once.
		const maxWaitS = coordinator.isFailing(node) ? 0 : limits.maxRetryWaitS;
		const requests = {
			timeout: timeout.of(parameters, 0),
			maxRetryWait: Math.min(maxWaitS, (budgetMs / 1000) * RETRY_SHARE),
			canceled: expired.signal,
		};
		const client = await createClient(context, requests, 'The next polls try again.');
		stats = client.stats;
		const isManual = context.getMode() === 'manual';
		if (!isManual && isStored(context)) {
			setup = JSON.stringify([client.account, context.getNode().parameters]);
			if (coordinator.isHeldBack(node, setup)) return NO_CHANGES;
			// Another execution was asked to wait: only a poll that asked itself fails.
			if (client.pausedMs > requests.maxRetryWait * 1000) return NO_CHANGES;
		}
		const watch = readWatch(client, parameters);
		const result = isManual
			? await readSample(watch)
			: await new Poll(context, parameters, watch, budget).run(coordinator);
		// Only a poll that asked has been served.
		if (result !== NO_CHANGES) coordinator.served(node);
		return result;
	};
	return await pollInTime()
		.catch((error: unknown) => {
			const problem = toProblem(expired.signal.aborted ? tooSlow(budgetMs) : error);
			const details = stats && effortOf(stats);
			let { message } = problem;
			if (setup !== undefined)
				message += ` (${coordinator.failed(node, setup, limits.holdBackMs)})`;
			throw toNodeError(context.getNode(), { ...problem, message, details });
		})
		.finally(() => ended.abort());
}

/**
 * The trigger's `poll`; null if there is nothing to emit.
 *
 * @param limits for tests
 * @param coordinator for tests, which play another process of n8n
 */
export async function poll(
	context: IPollFunctions,
	limits: PollLimits = POLL_LIMITS,
	coordinator: PollCoordinator = COORDINATOR,
): Promise<INodeExecutionData[][] | null> {
	const { items, mustStore } = await pollWithinBudget(context, limits, coordinator);
	return items.length > 0 || mustStore ? [items] : null;
}
