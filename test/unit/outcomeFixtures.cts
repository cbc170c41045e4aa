/** A table and times for the tests of outcomes. */
import type { WriteContext } from '../../nodes/DataPlatform/bulk/resolve/compare.ts';
import { ServiceError, type Delivery } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from './fixtures.cts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/terms.ts';

/** When stored records were modified, and when a write modifies them. */
export const BEFORE = '2026-01-01T00:00:00.501Z';
export const SINCE = '2026-03-01T00:00:00.501Z';

const fields: WriteContext['fields'] = new Map(
	[
		fieldOf('code', 'text', { importKey: true }),
		fieldOf('n', 'number'),
		fieldOf('file', 'file'),
		fieldOf('picture', 'picture'),
		fieldOf('sum', 'calculated'),
	].map((field) => [field.name, field]),
);

export const context = (mode: WriteMode): WriteContext => ({ mode, fields });

export const failure = (delivery: Delivery, status?: number, more = {}) =>
	new ServiceError(`${delivery} ${status ?? ''}`.trim(), { delivery, status, ...more });

/** An attempt that was lost, and one that the service may still apply. */
export const lost = failure('ambiguous');
export const pending = failure('ambiguous', 504, { stillPending: true });
