import type { INodeExecutionData } from 'n8n-workflow';

import type { PlatformRecord } from '../../api/types';
import { keyFields } from '../../fields/keyFields';
import { isSuccess } from '../../bulk/outcome';
import { Sync } from '../../bulk/remove/sync';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import { matchingParameters, maxNewOf } from '../../parameters/write/matchRules';
import { bulkOperation } from '../../parameters/defineOperation';
import {
	removeDespiteFailures,
	requireInput,
	syncOptionsOf,
	syncParameters,
	type RemovalParameter,
} from '../../parameters/write/syncParameters';
import { tableParameters } from '../../parameters/select/table';
import { columnsToUpsert } from '../../parameters/write/columns';
import { syncOptions } from '../../parameters/write/writing';
import { isCleared } from '../../fields/fieldType';
import { isObject } from '../../transport/json';
import { collect } from '../../transport/pause';
import { toItemProblem, toOutput } from './itemOutput';
import type { Writing } from './planItems';
import { findsRecords, writeItems, type WriteFollowUp } from './writeItems';
import type { ItemOutcome, PlanInput } from '../../bulk/terms';

const hasNoData = ({ json, binary }: INodeExecutionData) =>
	Object.keys(json ?? {}).length === 0 && binary === undefined;

const isEmptyRow = ({ values, id }: PlanInput) =>
	isCleared(id) && isObject(values) && Object.values(values).every(isCleared);

/** Adds what became of a record that is missing from the input. */
function addRemoval(
	ledger: Ledger,
	{ settings }: Writing,
	{ id, created, modified, ver, fields }: PlatformRecord,
	outcome: ItemOutcome,
) {
	if (!isSuccess(outcome)) {
		ledger.add(toItemProblem({ ...outcome, id }));
		return;
	}
	const isGone = settings.returnsPrevious && outcome.outcome === 'deleted';
	const parts = { created, modified, ver, ...outcome, id, ...(isGone && { previous: fields }) };
	const json = toOutput(parts, { index: -1, fields });
	ledger.add({ output: [{ json }], outcome: outcome.outcome });
}

/** Finds the records that are missing from the input, to remove them once its items are written. */
async function prepareSync(
	run: RunContext<RemovalParameter>,
	ledger: Ledger,
	writing: Writing,
): Promise<WriteFollowUp | undefined> {
	const { source, handle, table, settings, planning, pipeline, plan, rows } = writing;
	const keys = planning.matchOn === 'recordId' ? [] : keyFields(table, planning);
	const options = await syncOptionsOf(run, source, { table, keys }, settings);
	if (!options) return undefined;
	const isEmpty = rows.length === 0 && plan.problems.length === 0;
	const doneRows = await collect(writing.doneRows());
	if (isEmpty && doneRows.length === 0) requireInput(run, source);
	const isRead = new Set(rows.map(({ index }) => index));
	const unreadable = plan.problems.filter(({ index }) => !isRead.has(index));
	const all = [...doneRows, ...rows];
	const isPlanned = doneRows.length === 0 && plan.problems.length === 0;
	const planned = { records: plan.records, unknown: [] };
	const { records, unknown } = isPlanned ? planned : await pipeline.planKeys(all, keys);
	const [first] = [...unreadable.map(({ index }) => index), ...unknown].sort((a, b) => a - b);
	if (first !== undefined) {
		run.hintOnce(
			`No record was removed: it is unknown which one item ${first} stands for, and it could be one of those that seem to be missing from the input.`,
			'warning',
		);
		return undefined;
	}
	const sync = new Sync(handle.with(table), keys, pipeline, options);
	// A record that an item links to may belong to no item, such as one that a link created.
	for (const id of await pipeline.linkedIds(doneRows)) sync.holds(id);
	// Records that are matched by other fields are looked up by the rules for them.
	const limit = await sync.compare(records, Array.isArray(planning.matchOn) ? [] : plan.records);
	if (limit !== undefined) run.hintOnce(limit, 'warning');
	const despiteFailures = removeDespiteFailures.of(run, source);
	return {
		onOutcome: ({ id }) => sync.holds(id),
		finish: async (stopped) => {
			const failed = ledger.firstFailure();
			const add = (record: PlatformRecord, outcome: ItemOutcome) =>
				addRemoval(ledger, writing, record, outcome);
			if (stopped) sync.leave(`the run stopped before: ${stopped.message}`, add);
			else if (failed && !despiteFailures) {
				sync.leave(`item ${failed.index} did not succeed`, add);
			} else await sync.remove(add);
			return { scopeRecords: sync.scopeSize, missingRecords: sync.missing.length };
		},
	};
}

export const sync = bulkOperation({
	value: 'sync',
	name: 'Sync',
	action: 'Sync records',
	description:
		'Write the input to a table, or a part of it, so that they match: create, update, and mark or delete the rest',
	fields: [
		...tableParameters,
		...matchingParameters('importKey'),
		...syncParameters,
		columnsToUpsert,
	],
	options: syncOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, ledger) => {
		const writesOf = (source: number) =>
			findsRecords(run, source, 'upsert', {
				maxNew: maxNewOf(run, source, ledger.reached.done > 0),
			});
		await writeItems(run, ledger, writesOf, {
			isEmpty: (rows) => run.items.every(hasNoData) && rows.every(isEmptyRow),
			prepare: async (writing) => await prepareSync(run, ledger, writing),
		});
	},
});
