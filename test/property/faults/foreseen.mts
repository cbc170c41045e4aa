/** The expected outcome of each item of a case if nothing goes wrong. */
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import type { Case, CaseItem } from './schedule.mts';
import { keyOf } from './table.mts';

/** The right outcomes: a success with one of these, or an error. */
export interface Foreseen {
	/** `none`: the operation does not report an outcome. */
	outcomes: Set<string>;
	mayFail: boolean;
}

const success = (...outcomes: string[]): Foreseen => ({ outcomes: new Set(outcomes), mayFail: false });
const FAILURE: Foreseen = { outcomes: new Set(), mayFail: true };

/** The other items for the same record, however its key is written. */
export const sharers = ({ items }: Case, { index, id, identity }: CaseItem): CaseItem[] =>
	items.filter(
		(other) => other.index !== index && (id === undefined ? identity !== undefined && other.identity === identity : other.id === id),
	);

/** The records that an item refers to, before the run. */
export function matchesOf({ hasTwoMatchFields }: Case, { id, identity, group }: CaseItem, before: StoredRecord[]): StoredRecord[] {
	if (group !== undefined) return before.filter(({ fields }) => fields.group === group);
	if (id !== undefined) return before.filter((record) => record.id === id);
	return before.filter((record) => keyOf(record) === identity && (!hasTwoMatchFields || record.fields.group === 'a'));
}

const BY_ID_ONLY = ['delete', 'upload', 'remove'];

/** The rules for found and missing records. The import key alone needs none of them. */
function rulesOf({ operation, matching }: Case): Case['matching'] {
	const { multipleMatches } = matching;
	if (operation === 'sync') return { ifFound: 'update', ifMissing: 'create', multipleMatches };
	if (operation === 'update') return { ...matching, ifFound: 'update' };
	if (BY_ID_ONLY.includes(operation)) return { ...matching, ifFound: 'update', ifMissing: 'error' };
	return matching;
}

/** The outcome of a create. A second record with an import key is rejected only if that field is unique. */
function foreseenCreate(testCase: Case, item: CaseItem, before: StoredRecord[]): Foreseen {
	const others = sharers(testCase, item).filter(({ index }) => index < item.index);
	const isTaken = before.some((record) => keyOf(record) === item.identity);
	const isUnique = testCase.isKeyed && testCase.settings.importKey === 'unique';
	if (item.isRefused || (isUnique && isTaken)) return FAILURE;
	if (!isUnique || others.length === 0) return success('inserted');
	if (others.some(({ isRefused }) => !isRefused)) return FAILURE;
	return success('inserted');
}

/** The records in a sync's scope that none of its items refers to. */
export const missingFrom = (testCase: Case, before: StoredRecord[]): StoredRecord[] =>
	before.filter((record) => record.fields.group === 'b' && !testCase.items.some((item) => matchesOf(testCase, item, [record]).length > 0));

/** The outcome of an upsert by a key that is not the platform's: the one before the proof may be a success. */
function foreseenByWrongKey({ canRead }: Case, isThere: boolean): Foreseen {
	const outcomes = isThere ? ['written', ...(canRead ? [] : ['updated', 'unchanged'])] : ['written', 'inserted'];
	return { outcomes: new Set(outcomes), mayFail: true };
}

/** The outcome of one item on its own. */
export function foresee(testCase: Case, item: CaseItem, before: StoredRecord[]): Foreseen {
	const { operation, isFull } = testCase;
	if (operation === 'deleteMany') {
		const count = matchesOf(testCase, item, before).length;
		return count > testCase.removal.maximum ? FAILURE : success('none');
	}
	if (operation === 'sync' && missingFrom(testCase, before).length > testCase.removal.maximum) {
		return FAILURE;
	}
	if (operation === 'create') return foreseenCreate(testCase, item, before);
	const { ifFound, ifMissing, multipleMatches } = rulesOf(testCase);
	const matches = matchesOf(testCase, item, before);
	if (testCase.wrongKey) return foreseenByWrongKey(testCase, matches.length > 0);
	if (item.isEmpty && isFull) return FAILURE;
	if (matches.length === 0) {
		if (ifMissing === 'error') return FAILURE;
		if (ifMissing === 'skip') return success('skipped');
		return item.isRefused ? FAILURE : success('inserted');
	}
	if (matches.length > 1 && multipleMatches === 'error') return FAILURE;
	if (ifFound === 'skip') return success('found');
	if (item.isRefused) return FAILURE;
	if (operation === 'delete' || operation === 'remove') return success('none');
	if (operation === 'upload') return success('none');
	if (item.isEmpty) return success('unchanged', 'updated');
	if (item.isIdle) return success('unchanged', ...(matches.length > 1 ? ['updated'] : []));
	return success('updated');
}
