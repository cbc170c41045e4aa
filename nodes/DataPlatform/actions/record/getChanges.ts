import { fromCursor, CURSOR_LIMITS, toCursor } from '../../changes/cursor';
import { ChangePages, readChanges } from '../../changes/reader';
import { selectChanges, type ChangeKind, type ChangeState } from '../../changes/tracker';
import { text } from '../../parameterKinds/kinds';
import { withLabel } from '../../parameterKinds/requireValue';
import { MAX_AGENT_RECORDS } from '../../input/recordOutput';
import {
	changeOutput,
	missingThereIn,
	changeTimes,
	overlap,
	pageSize,
	quietFor,
	selectionValues,
	startDate,
	startFrom,
	startState,
	syncState,
} from '../../parameters/changes/changes';
import { namesAt } from '../../parameters/select/fieldNames';
import { filterParameters, readFilter } from '../../parameters/select/filter';
import { itemOperation } from '../../parameters/defineOperation';
import {
	fieldsToLoad,
	outputOf,
	queryHint,
	savedView,
	simple,
} from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';

const KINDS: ReadonlySet<ChangeKind> = new Set(['created', 'updated']);

const cursor = text('cursor', {
	label: 'Cursor',
	placeholder: 'e.g. {{ $json.cursor }}',
	description:
		'The cursor that an earlier Get Changes of this table returned. Leave empty to start.',
	aiHint:
		"The 'cursor' that the last call returned, which the workflow keeps, for example in a data table.",
});

const STARTS = { now: 'now', beginning: 'the beginning' } as const;

export const getChanges = itemOperation({
	value: 'getChanges',
	name: 'Get Changes',
	action: 'Get changed records',
	description:
		'Retrieve the records that were created or updated since the last call, and a cursor for the next one',
	fields: [...tableParameters, cursor, startFrom, startDate, ...filterParameters, pageSize, simple],
	options: [fieldsToLoad, overlap, quietFor, savedView, syncState, ...requestSettings],
	execute: async (run, index) => {
		const handle = tableOf(run, index);
		const fields = fieldsToLoad.of(run, index);
		const sync = syncState.of(run, index);
		const selected = {
			filter: await readFilter(run, index, [], namesAt(fieldsToLoad, fields)),
			fields,
			savedView: savedView.of(run, index),
		};
		// The state says which fields are compared.
		const loaded = sync === '' ? fields : [];
		const query = { ...selected, fields: loaded, hint: queryHint(selected) };
		const options = {
			kinds: KINDS,
			...changeTimes(run, index),
			maximum: Math.min(pageSize.of(run, index), run.isTool ? MAX_AGENT_RECORDS : Infinity),
		};
		const source = {
			table: JSON.stringify([run.client.origin, handle.at.application ?? null, handle.at.table]),
			selection: JSON.stringify(selectionValues(run)),
		};
		const toOutput = changeOutput(outputOf(run, index), fields, sync);
		const pages = new ChangePages(handle, query, CURSOR_LIMITS);
		const given = cursor.of(run, index);
		let state: ChangeState;
		if (given === '') {
			const chosen = startFrom.of(run, index);
			const start = chosen === 'date' ? startDate.of(run, index) : chosen;
			if (run.isExpression(cursor)) {
				const from = typeof start === 'number' ? new Date(start).toISOString() : STARTS[start];
				run.hintOnce(`No ${cursor}: started from ${from}.`);
			}
			state = await startState(handle, pages, options.overlapMs, start);
			if (start === 'now') {
				return { json: { changes: [], cursor: toCursor(state, source), hasMore: false } };
			}
		} else state = withLabel(cursor, () => fromCursor(given, source));
		const read = await readChanges(pages, state, options, () => true);
		const missingThere = await missingThereIn(handle, sync, read.records);
		const selection = selectChanges(state, read, { ...options, missingThere }, CURSOR_LIMITS);
		return {
			json: {
				changes: selection.changes.map(toOutput),
				cursor: toCursor(selection.state, source),
				hasMore: selection.state.backlog !== undefined,
			},
		};
	},
});
