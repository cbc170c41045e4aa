import { ChangePages, readChanges } from '../../changes/reader';
import { selectChanges, type ChangeKind } from '../../changes/tracker';
import { CURSOR_LIMITS, fromCursor, toCursor } from '../../changes/cursor';
import { requestSettings, simple, tableParameters } from '../../descriptions/common';
import {
	DEFAULT_MAXIMUM,
	DEFAULT_OVERLAP_S,
	MAX_MAXIMUM,
	overlap,
	startDate,
} from '../../descriptions/changeOptions';
import { filterParameters } from '../../descriptions/filter';
import { itemOperation } from '../../descriptions/operation';
import { fieldsToLoad, savedView } from '../../descriptions/readOptions';
import {
	changeOutput,
	requireDate,
	selectionValues,
	START_FROM,
	startState,
} from '../../execution/changeInput';
import { readFilter } from '../../execution/filterInput';
import { queryHint } from '../../execution/recordQuery';
import { MAX_AGENT_RECORDS, outputOf } from '../../execution/recordOutput';
import { requireChoice, requireNumber, withLabel, type RunContext } from '../../execution/run';

const KINDS: ReadonlySet<ChangeKind> = new Set(['created', 'updated']);

/** Where reading starts without a cursor. @throws {InputError} */
function startOf(run: RunContext<'startFrom' | 'startDate'>, index: number) {
	const start = requireChoice(run.parameter('startFrom', index), 'Start From', START_FROM);
	if (start !== 'date') return start;
	return requireDate(run.parameter('startDate', index), run.context.getTimezone());
}

const NO_CURSOR_HINTS = {
	now: 'Without a cursor, reading starts now: no changes are returned, only a cursor for later ones.',
	beginning: 'Without a cursor, every record of the table is returned.',
	date: 'Without a cursor, every change since the date is returned.',
};

export const getChanges = itemOperation({
	value: 'getChanges',
	name: 'Get Changes',
	action: 'Get changed records',
	description:
		'Retrieve the records that were created or updated since the last call, and a cursor for the next one',
	fields: [
		...tableParameters,
		{
			displayName: 'Cursor',
			name: 'cursor',
			type: 'string',
			default: '',
			placeholder: 'e.g. {{ $json.cursor }}',
			description:
				'The cursor that an earlier Get Changes of this table returned. Leave empty to start.',
		},
		{
			displayName: 'Start From',
			name: 'startFrom',
			type: 'options',
			options: [
				{
					name: 'A Date',
					value: 'date',
					description: 'Return every change since then',
				},
				{
					name: 'Now',
					value: 'now',
					description: 'Return no changes yet, only a cursor for later ones',
				},
				{
					name: 'The Beginning',
					value: 'beginning',
					description: 'Return all existing records, then every change',
				},
			],
			default: 'beginning',
			description: 'Where to start when there is no cursor',
		},
		startDate,
		...filterParameters,
		{
			displayName: 'Page Size',
			name: 'pageSize',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: MAX_MAXIMUM },
			default: DEFAULT_MAXIMUM,
			description: 'Max number of changes to return at once. The next cursor goes on after them.',
		},
		simple,
	],
	options: [fieldsToLoad, overlap, savedView, ...requestSettings],
	execute: async (run, index) => {
		const at = run.table(index);
		const meant = {
			filter: await readFilter(run, index),
			fields: run.names('options.fieldsToLoad', 'Output Field Names or IDs', index),
			savedView: run.narrowingText('options.savedView', 'Saved View Name or ID', index),
		};
		const query = { ...meant, hint: queryHint(meant) };
		const overlapS = run.option('options.overlap', index, DEFAULT_OVERLAP_S);
		const pageSize = requireNumber(run.parameter('pageSize', index), 'Page Size', {
			min: 1,
			max: MAX_MAXIMUM,
			isWhole: true,
		});
		const options = {
			kinds: KINDS,
			overlapMs: requireNumber(overlapS, 'Overlap (Seconds)', { min: 0, max: 86_400 }) * 1000,
			maximum: Math.min(pageSize, run.isTool ? MAX_AGENT_RECORDS : Infinity),
		};
		const source = {
			table: JSON.stringify([run.client.origin, at.application ?? null, at.table]),
			selection: JSON.stringify(selectionValues((name) => run.raw(name))),
		};
		const toOutput = changeOutput(outputOf(run, index), query.fields);
		const pages = new ChangePages(run.client, at, query, CURSOR_LIMITS);
		const given = run.optionalText('cursor', 'Cursor', index);
		const start = given === '' ? startOf(run, index) : undefined;
		if (start !== undefined) {
			run.hintOnce(NO_CURSOR_HINTS[typeof start === 'number' ? 'date' : start]);
		}
		const state =
			start === undefined
				? withLabel('Cursor', () => fromCursor(given, source))
				: await startState(run.client, at, pages, options.overlapMs, start);
		if (start === 'now') return { changes: [], cursor: toCursor(state, source), hasMore: false };
		const read = await readChanges(pages, state, options, () => true, CURSOR_LIMITS);
		const selection = selectChanges(state, read, options, CURSOR_LIMITS);
		return {
			changes: selection.changes.map(toOutput),
			cursor: toCursor(selection.state, source),
			hasMore: selection.state.backlog !== undefined,
		};
	},
});
