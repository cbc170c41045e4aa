/** A table, times and responses for the tests of outcomes. */
import { parseBulkResponse } from '../../nodes/DataPlatform/bulk/response.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import type { LastChange, NewestVersions } from '../../nodes/DataPlatform/bulk/lastChange.ts';
import { appendableFields } from '../../nodes/DataPlatform/fields/values.ts';
import type { WriteContext } from '../../nodes/DataPlatform/bulk/evidence.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from './fixtures.cts';

/** Times before the run, of the last change before it, and since then. */
export const BEFORE = '2026-01-01T00:00:00.501Z';
export const LAST_CHANGE = '2026-02-01T00:00:00.501+01:00';
export const SINCE = '2026-03-01T00:00:00.501Z';
export const LATER = '2026-03-01T00:00:01.500Z';

/** The newest change before a run, on a clock that had advanced when it was read. */
export const lastChangeAt = (time: string): NewestVersions => ({
	time,
	versions: new Map(),
	areOthersLater: false,
});

export const fields: WriteContext['fields'] = new Map(
	[
		fieldOf('code'),
		fieldOf('n', 'number'),
		fieldOf('file', 'file'),
		fieldOf('picture', 'picture'),
		fieldOf('sum', 'calculated'),
	].map((field) => [field.name, field]),
);

export const LAST = lastChangeAt(LAST_CHANGE);

export const context = (mode: WriteMode, lastChangeBefore: LastChange = LAST): WriteContext => ({
	mode,
	lastChangeBefore,
	fields,
	appendable: appendableFields(fields.values()),
});

export const timedOut = new ServiceError('No response', { delivery: 'ambiguous' });
export const responseOf = (body: Record<string, unknown>, size = 1) =>
	parseBulkResponse(body, size);
