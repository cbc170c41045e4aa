/**
 * Which records to delete, and how many at most.
 */
import { flag, wholeNumber } from '../../parameterKinds/kinds';
import { filterWith } from './filter';
import { LABELS } from '../../labels';

/** Conditions by default, so that nothing is deleted without a choice. */
export const deletionFilter = filterWith({ preset: 'conditions', required: true });

export const allowAll = flag('allowAll', {
	label: LABELS.allowAll,
	preset: false,
	show: { filterMode: ['none'] },
	description: 'Whether to delete every record of the table',
});

export const maxRecordsToDelete = wholeNumber('maxRecordsToDelete', {
	label: LABELS.maxRecordsToDelete,
	min: 1,
	required: true,
	preset: 100,
	description: 'Max number of records to delete. If more match, nothing is deleted.',
});
