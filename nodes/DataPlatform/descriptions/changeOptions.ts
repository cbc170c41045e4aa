/**
 * Parameters of whatever finds what changed.
 */
import type { Parameter } from '../execution/operation';

export const DEFAULT_OVERLAP_S = 60;

/** How many changes are returned or emitted at once, unless the user says otherwise. */
export const DEFAULT_MAXIMUM = 1000;
export const MAX_MAXIMUM = 10_000;

export const startDate: Parameter<'startDate'> = {
	displayName: 'Date',
	name: 'startDate',
	type: 'dateTime',
	required: true,
	default: '',
	displayOptions: { show: { startFrom: ['date'] } },
	description: 'A date without a time zone is in the time zone of the workflow',
};

export const overlap: Parameter<'overlap'> = {
	displayName: 'Overlap (Seconds)',
	name: 'overlap',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 86400 },
	default: DEFAULT_OVERLAP_S,
	description:
		'How far back to look before the last change, for changes that become visible late. Nothing is returned twice.',
};
