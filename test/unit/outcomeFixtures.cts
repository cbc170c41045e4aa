/** A table, times and responses for the tests of outcomes. */
import { parseBulkResponse } from '../../nodes/DataPlatform/bulk/response.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import type { Watermark, WriteContext } from '../../nodes/DataPlatform/bulk/resolve.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from './fixtures.cts';

/** Times before the run, of its watermark, and since. */
export const BEFORE = '2026-01-01T00:00:00Z';
export const WATERMARK = '2026-02-01T00:00:00+01:00';
export const SINCE = '2026-03-01T00:00:00Z';
export const LATER = '2026-03-01T00:00:01Z';

export const fields: WriteContext['fields'] = new Map(
	[
		fieldOf('code'),
		fieldOf('n', 'number'),
		fieldOf('file', 'file'),
		fieldOf('sum', 'calculated'),
	].map((field) => [field.name, field]),
);

export const context = (mode: WriteMode, watermark: Watermark = WATERMARK): WriteContext => ({
	mode,
	watermark,
	fields,
});

export const timedOut = new ServiceError('No response', { delivery: 'ambiguous' });
export const responseOf = (body: Record<string, unknown>, size = 1) =>
	parseBulkResponse(body, size);
