/** A table and times for the tests of outcomes: before the run, its baseline, and since. */
import { parseBulkResponse } from '../../nodes/DataPlatform/bulk/response.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import type { Watermark, WriteContext } from '../../nodes/DataPlatform/bulk/resolve.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from './fixtures.cts';

export const BEFORE = '2026-01-01T00:00:00Z';
export const BASELINE = '2026-02-01T00:00:00+01:00';
export const SINCE = '2026-03-01T00:00:00Z';

export const fields: WriteContext['fields'] = new Map(
	[
		fieldOf('code'),
		fieldOf('n', 'number'),
		fieldOf('file', 'file'),
		fieldOf('sum', 'calculated'),
	].map((field) => [field.name, field]),
);

export const context = (mode: WriteMode, baseline: Watermark = BASELINE): WriteContext => ({
	mode,
	watermark: baseline,
	fields,
});

export const timedOut = new ServiceError('No answer', { delivery: 'ambiguous' });
export const answerOf = (body: Record<string, unknown>, size = 1) => parseBulkResponse(body, size);
