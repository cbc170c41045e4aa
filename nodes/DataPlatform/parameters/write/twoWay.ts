/**
 * Two-way sync: *Create or Update* keeps in a field of each record what both sides agreed on.
 */
import type { TableDefinition } from '../../api/types';
import type { MatchOn, TwoWay } from '../../bulk/terms';
import { LABELS } from '../../labels';
import { choice, number } from '../../parameterKinds/kinds';
import type { NameOf } from '../../parameterKinds/parameter';
import type { RunContext } from '../../run/run';
import { OptionGroup } from '../defineOperation';
import { tableChoice } from '../select/table';
import { writableField } from './columns';

const stateField = tableChoice('stateField', {
	label: LABELS.stateField,
	list: 'getWritableFields',
	about: 'A long text field of the table, in which the node keeps what both sides agreed on',
});

const bothChanged = choice('bothChanged', {
	label: 'Both Sides Changed',
	choices: {
		report: ['Keep and Report', 'Change neither side, and return the field in conflicts'],
		takeItem: ["Take the Item's", 'Write the value of the item'],
		keep: ['Keep', "Return the record's value in sendBack"],
	},
	preset: 'report',
	description: 'What to do with a field that both sides changed differently',
});

const firstTime = choice('firstTime', {
	label: 'Values Differ at First',
	choices: {
		report: ['Fill Empty, Report the Rest', 'Fill the side that is empty, and report the others'],
		takeItem: ["Take the Item's", 'Write the value of the item'],
		keep: ['Keep', "Return the record's value in sendBack"],
	},
	preset: 'report',
	description: 'What to do with a record for which nothing was agreed yet',
});

const maxChanges = number('maxChanges', {
	label: LABELS.maxChanges,
	min: 0,
	max: 100,
	preset: 20,
	description:
		'If a larger share of the records changed on either side, nothing is written. Ten records may always change.',
});

export const twoWaySync = new OptionGroup(
	'twoWay',
	LABELS.twoWaySync,
	'Keep the table and another system equal, although people edit both',
	[stateField, bothChanged, firstTime, maxChanges],
);

/**
 * How to sync both ways; undefined if the option was not added.
 *
 * @param on the fields that records are found by
 * @throws {InputError} if the state can't be kept in the chosen field
 */
export function twoWayOf(
	run: RunContext<NameOf<typeof twoWaySync.options>>,
	index: number,
	table: TableDefinition,
	on: MatchOn,
): TwoWay | undefined {
	if (run.raw(stateField) === null) return undefined;
	const wrong = (message: string) =>
		stateField.error(
			`${stateField}: ${message}`,
			'Choose a long text field that nothing else uses.',
		);
	const { name, type } = writableField(table, stateField.of(run, index), wrong);
	if (!['text', 'long_text', 'markdown'].includes(type)) throw wrong(`'${name}' is no text`);
	if (on !== 'recordId' && on.includes(name)) throw wrong(`records are found by '${name}'`);
	return {
		state: name,
		bothChanged: bothChanged.of(run, index),
		firstTime: firstTime.of(run, index),
		maxChanges: maxChanges.of(run, index),
		now: new Date().toISOString(),
	};
}
