/** What a failed outcome becomes for the item. */
import { toItemFailure } from '../../../nodes/DataPlatform/actions/record/itemOutput.ts';

test('what decides over another attempt is kept', () => {
	const facts = { notAttempted: true, noRetry: true, isRetryable: true, retryAfterMs: 5 };
	expect(toItemFailure({ outcome: 'failed', ...facts })).toMatchObject(facts);
});
