/**
 * How many items have each outcome, as numbers and in words.
 */
import { isSuccess, OUTCOME_NAMES, outcomeText } from '../../bulk/outcome';
import type { Outcome } from '../../bulk/terms';
import { counted, shownCount } from '../../transport/messageText';

/** How many did not succeed, in words; empty if all did. */
export const failuresText = (counts: Record<Outcome, number>) =>
	OUTCOME_NAMES.filter((outcome) => !isSuccess({ outcome }) && counts[outcome] > 0)
		.map((outcome) => `${shownCount(counts[outcome])} ${outcomeText(outcome)}`)
		.join(', ');

/**
 * The counts of records in one sentence.
 *
 * @param merged the counts of items that were merged into a later one
 */
export function countsText(
	summary: Record<Outcome | 'requests', number> & {
		dryRun?: boolean;
		linkedRecordsCreated?: number;
	},
	merged: Partial<Record<Outcome, number>>,
) {
	const counts: string[] = [];
	for (const outcome of OUTCOME_NAMES) {
		const count = summary[outcome] - (merged[outcome] ?? 0);
		if (count > 0) counts.push(`${shownCount(count)} ${outcomeText(outcome)}`);
	}
	const mergedCount = Object.values(merged).reduce((sum, count) => sum + count, 0);
	if (mergedCount > 0) counts.push(`${shownCount(mergedCount)} merged`);
	const prefix = summary.dryRun ? 'Dry run, nothing was written: ' : '';
	const { linkedRecordsCreated: linked } = summary;
	if (linked !== undefined) counts.push(`${counted(linked, 'linked record')} created`);
	const requests = counted(summary.requests, 'request');
	return `${prefix}${counts.join(', ') || 'nothing to write'} (${requests}).`;
}
