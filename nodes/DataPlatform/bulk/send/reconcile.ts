/**
 * Looks up the items that no response confirms, many per request: by their IDs or their keys.
 */
import type { FieldDefinition, TableAt } from '../../api/types';
import { serviceErrorOrThrow, ServiceError } from '../../transport/errors';
import type { WriteContext } from '../resolve/compare';
import { lookUp } from '../resolve/lookup';
import { unreadItem } from '../resolve/resolveOutcome';
import { afterLookUp, workResult, type ReconcileWork, type WorkResult } from './transitions';
import type { Entry } from '../terms';

export class OutcomeResolver {
	constructor(
		private readonly target: TableAt,
		private readonly keys: FieldDefinition[],
		private readonly context: WriteContext,
	) {}

	/** The records as they are stored now, or why they can't be read. */
	async lookUp(entries: Entry[], areValuesRead = true) {
		const { mode } = this.context;
		// A new record, or one known by its ID, may be among others with the same key.
		const areAllRead = mode === 'create' || entries.some(({ id }) => id !== undefined);
		// All fields are needed to see what a full update clears.
		const withValues = mode === 'replace' ? 'allFields' : 'sentFields';
		const loads = areValuesRead ? withValues : 'keys';
		const enough = areAllRead ? Infinity : 1;
		return await lookUp(this.target, this.keys, entries, { loads, enough }).catch(
			serviceErrorOrThrow,
		);
	}

	/** @returns the outcomes of the entries, and what to send again */
	async resolve(work: ReconcileWork): Promise<WorkResult> {
		const { reports } = work;
		// The service has compared what it counts without listing it.
		const areValuesRead = reports.some(([, { as }]) => as !== 'omitted');
		const found = await this.lookUp(
			reports.map(([entry]) => entry),
			areValuesRead,
		);
		if (!(found instanceof ServiceError)) {
			return afterLookUp(work, found, this.context);
		}
		return workResult({
			outcomes: reports.map(([entry, report]) => [
				entry,
				unreadItem(entry, report, found, this.context),
			]),
			// The token may lack the right to read. Any other failure would hit the next request, too.
			stop: found.delivery === 'rejected' ? undefined : found,
		});
	}
}
