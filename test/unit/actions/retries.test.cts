/** What n8n's Retry On Fail means for each operation that changes something. */
import { findOperation } from '../../../nodes/DataPlatform/actions/index.ts';

const KEEPS = { notIdempotent: true };
const REPEATS = { ...KEEPS, retriesUnknown: true };

test.each([
	['record', 'create', KEEPS],
	['record', 'upsert', REPEATS],
	['record', 'update', REPEATS],
	['record', 'sync', REPEATS],
	['record', 'delete', REPEATS],
	['record', 'deleteMany', REPEATS],
	['record', 'importFromFile', REPEATS],
	['attachment', 'upload', KEEPS],
	['attachment', 'remove', KEEPS],
	['workflow', 'trigger', KEEPS],
	['workflow', 'triggerAndWait', KEEPS],
])(
	'%s: %s: another attempt keeps what is done, and repeats what is unknown only where that does no harm: %j',
	(...[resource, name, rule]) => {
		const { notIdempotent, retriesUnknown } = findOperation(resource, name);
		expect({ notIdempotent, ...(retriesUnknown && { retriesUnknown }) }).toEqual(rule);
	},
);
