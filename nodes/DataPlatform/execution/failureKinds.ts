/** Counts failures by kind: those of one kind differ only in their items and values. Pure. */
import type { IDataObject } from 'n8n-workflow';

import { omitUndefined, type ReportedFailure } from './itemResults';

/** How many kinds to list. */
const MAX_KINDS = 10;

/** An item's own number, which is not part of the kind. */
const OWN_ITEM = /^Item \d+ was not sent: /;

/** Values in a message: numbers and quoted JSON. Names stand in single quotes. */
const VALUES = /"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?/g;

/** The first kinds of failures, in order, each with the message and item of its first failure. */
export function failureKinds(failures: Iterable<ReportedFailure>): IDataObject[] {
	const kinds = new Map<string, IDataObject & { count: number }>();
	for (const { index, failure } of failures) {
		const error = failure.message.replace(OWN_ITEM, '');
		const { outcome, field, status } = failure.details ?? {};
		const name = JSON.stringify([outcome, field, status, error.replace(VALUES, '')]);
		const kind = kinds.get(name);
		if (kind) kind.count += 1;
		else if (kinds.size < MAX_KINDS) {
			const facts = omitUndefined({ outcome, field, status, item: index });
			kinds.set(name, { count: 1, error, ...facts });
		}
	}
	return [...kinds.values()];
}
