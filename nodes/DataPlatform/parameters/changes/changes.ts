/**
 * Parameters of the trigger and Get Changes: the start, the records, and the shape of a change.
 */
import type { IDataObject } from 'n8n-workflow';

import { readLatestChange } from '../../api/pages';
import type { Table } from '../../api/table';
import type { PlatformRecord, TableAt } from '../../api/types';
import { missingThere } from '../../fields/agreedState';
import { startFromNow, type ChangePages } from '../../changes/reader';
import {
	startFromTime,
	type Change,
	type ChangeOptions,
	type ChangeState,
} from '../../changes/tracker';
import type { NameOf, ParameterReader } from '../../parameterKinds/parameter';
import { choice, number, startTime, wholeNumber } from '../../parameterKinds/kinds';
import type { RecordOutput } from '../../input/recordOutput';
import { getOwn } from '../../transport/json';
import { filterParameters, type FilterParameter } from '../select/filter';
import { savedView } from '../select/reading';
import { tableChoice, tableChoices } from '../select/table';
import { LABELS } from '../../labels';

/** How many changes to return or emit at once by default. */
const DEFAULT_MAXIMUM = 1000;
const MAX_MAXIMUM = 10_000;

/** Where to start without a position. The trigger has another preset. */
export const startFrom = choice('startFrom', {
	label: LABELS.startFrom,
	choices: {
		date: ['A Date', 'Every change since then'],
		now: ['Now', 'Only what changes later'],
		beginning: ['The Beginning', 'All existing records, then every change'],
	},
	preset: 'beginning',
	description: 'Where to start when there is no cursor',
});

const deletionsOnly = (path: string) => ({ hide: { [path]: ['deleted'] } });

/** Deletions have no fields. */
export const UNLESS_ONLY_DELETIONS = deletionsOnly('triggerOn');
export const OPTION_UNLESS_ONLY_DELETIONS = deletionsOnly('/triggerOn');

export const startDate = startTime('startDate', {
	label: 'Date',
	required: true,
	show: { startFrom: ['date'] },
	description: 'A date without a time zone is in the time zone of the workflow',
});

export const overlap = number('overlap', {
	label: 'Overlap (Seconds)',
	min: 0,
	max: 86_400,
	preset: 60,
	description:
		'How far back to look before the last change, for changes that become visible late. Nothing is returned twice.',
});

export const quietFor = number('quietFor', {
	label: 'Quiet For (Seconds)',
	min: 0,
	max: 86_400,
	preset: 0,
	description:
		'Emit a record only once it has not changed for so long, so that what the platform fills in later, such as a number or a calculated field, is in it. Off by default.',
});

/** How far back to look, and how long a record must be quiet, in ms. @throws {InputError} */
export function changeTimes(
	reader: ParameterReader<NameOf<typeof overlap | typeof quietFor>>,
	index: number,
): Pick<ChangeOptions, 'overlapMs' | 'quietMs'> {
	const quietMs = quietFor.of(reader, index) * 1000;
	// A late change may have to be quiet as well.
	return { quietMs, overlapMs: overlap.of(reader, index) * 1000 + quietMs };
}

export const pageSize = wholeNumber('pageSize', {
	label: 'Page Size',
	min: 1,
	max: MAX_MAXIMUM,
	preset: DEFAULT_MAXIMUM,
	description: 'Max number of changes to return at once. The next cursor goes on after them.',
});

export const triggerOn = choice('triggerOn', {
	label: LABELS.triggerOn,
	choices: {
		created: 'Record Created',
		createdOrUpdated: 'Record Created or Updated',
		createdUpdatedOrDeleted: ['Record Created, Updated or Deleted', 'All three in one workflow'],
		deleted: 'Record Deleted',
		updated: 'Record Updated',
	},
	preset: 'createdOrUpdated',
});

export const maxRecordsPerPoll = wholeNumber('maxRecordsPerPoll', {
	label: 'Max Records per Poll',
	min: 1,
	max: MAX_MAXIMUM,
	preset: DEFAULT_MAXIMUM,
	description: 'Max number of items per poll. The rest follow in later polls.',
});

export const watchedFields = tableChoices('watchedFields', {
	label: 'Watched Field Names or IDs',
	list: 'getFields',
	// If its expression returned nothing, every update would be emitted.
	narrows: true,
	...OPTION_UNLESS_ONLY_DELETIONS,
	about: 'Only emit an update if one of these fields changed',
});

/** The same field as in *Create or Update*. */
export const syncState = tableChoice('stateField', {
	label: LABELS.stateField,
	list: 'getFields',
	narrows: true,
	about:
		'Only emit records with values that the other system of a two-way sync lacks: the field in which Create or Update keeps what both sides agreed on',
});

const IF_DELETIONS_ARE_EMITTED = {
	show: { '/triggerOn': ['createdUpdatedOrDeleted', 'deleted'] },
};

export const deletionCheckInterval = number('deletionCheckInterval', {
	label: 'Deletion Check (Minutes)',
	min: 0,
	preset: 15,
	...IF_DELETIONS_ARE_EMITTED,
	description:
		'How often to look for deleted records, in minutes. A check takes two requests, and if the table changed, one for its definition and one for each 1,000 records. With 0, every poll checks.',
});

export const maxDeletedShare = number('maxDeletedShare', {
	label: LABELS.maxDeletedShare,
	min: 0,
	max: 100,
	preset: 20,
	...IF_DELETIONS_ARE_EMITTED,
	description:
		'If more of the records than this, and more than 5 or half of them, are missing at once, the poll fails and emits no deletions: the token may simply not be allowed to see them',
});

export const maxDeletions = wholeNumber('maxDeletions', {
	label: LABELS.maxDeletions,
	min: 0,
	preset: 100,
	...IF_DELETIONS_ARE_EMITTED,
	description: 'The same as a number of records',
});

type SelectionParameter = FilterParameter | NameOf<typeof savedView>;

/**
 * The filter and the saved view as stored in the workflow. Expressions stay unresolved, so that a
 * filter with `today` is the same filter tomorrow.
 */
export const selectionValues = (reader: ParameterReader<SelectionParameter>): unknown[] =>
	[...filterParameters, savedView].map((parameter) => reader.raw(parameter) || null);

/** The state at the start of watching. @throws {ServiceError} */
export async function startState(
	table: TableAt,
	pages: ChangePages,
	overlapMs: number,
	start: 'now' | 'beginning' | number,
): Promise<ChangeState> {
	if (start === 'beginning') return { emitted: {} };
	if (typeof start === 'number') return startFromTime(start);
	return await startFromNow(pages, await readLatestChange(table), overlapMs);
}

/**
 * What records have for the other system of a two-way sync; undefined if there is none.
 *
 * @param state the name of the state field
 * @throws {InputError} if the table does not have it
 * @throws {ServiceError}
 */
export async function missingThereIn(
	table: Table,
	state: string,
	records: PlatformRecord[],
): Promise<ChangeOptions['missingThere']> {
	if (state === '' || records.length === 0) return undefined;
	return await table.checkWithKept(({ header, fields }) => {
		if (fields.some(({ name }) => name === state)) {
			return (record: PlatformRecord) => missingThere(record, state, fields);
		}
		throw syncState.error(
			`${syncState}: table '${header}' has no field '${state}'`,
			'Choose the field that Create or Update has there.',
		);
	});
}

/**
 * @param outputFields the fields in the output; all if empty
 * @param state the name of the state field, which only the nodes read
 */
export const changeOutput =
	(shape: RecordOutput, outputFields: string[], state: string) =>
	({ kind, record, more }: Change): IDataObject => {
		const all = Object.keys(record.fields).filter((name) => name !== state);
		const names = outputFields.length > 0 ? outputFields : all;
		const fields = names.map((name) => [name, getOwn(record.fields, name) ?? null]);
		const output = shape({ ...record, fields: Object.fromEntries(fields) });
		return { event: kind, ...output, ...(more as IDataObject) };
	};
