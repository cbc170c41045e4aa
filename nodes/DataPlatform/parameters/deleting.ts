/**
 * Which records are deleted, and how many at most.
 */
import { flag, wholeNumber } from '../execution/parameterKinds';
import { filterWith } from './filter';

/** Conditions come first: what is not narrowed down is not deleted. */
export const deletionFilter = filterWith({ preset: 'conditions', required: true });

export const allowAll = flag('allowAll', {
	label: 'Delete All Records',
	preset: false,
	show: { filterMode: ['none'] },
	description: 'Whether to delete every record of the table',
});

export const maxRecordsToDelete = wholeNumber('maxRecordsToDelete', {
	label: 'Max Records to Delete',
	min: 1,
	required: true,
	preset: 100,
	description: 'Max number of records to delete. If more match, nothing is deleted.',
});
