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

export const DEFAULT_CHECK_MINUTES = 15;
export const DEFAULT_MAX_SHARE = 50;

const WHERE_DELETIONS_ARE_EMITTED = {
	show: { '/triggerOn': ['createdUpdatedOrDeleted', 'deleted'] },
};

export const deletionCheckInterval: Parameter<'deletionCheckInterval'> = {
	displayName: 'Deletion Check (Minutes)',
	name: 'deletionCheckInterval',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: DEFAULT_CHECK_MINUTES,
	displayOptions: WHERE_DELETIONS_ARE_EMITTED,
	description:
		'How often to look for deleted records, in minutes. A check takes one request for each 1,000 records of the table. With 0, every poll checks.',
};

export const maxDeletedShare: Parameter<'maxDeletedShare'> = {
	displayName: 'Max Share of Deletions (%)',
	name: 'maxDeletedShare',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: DEFAULT_MAX_SHARE,
	displayOptions: WHERE_DELETIONS_ARE_EMITTED,
	description:
		'If more of the records than this, and more than 10, are missing at once, the poll fails and emits no deletions: the token may just not see them',
};
