/** What a failed outcome becomes for the item. */
import { toItemProblem } from '../../../nodes/DataPlatform/actions/record/itemOutput.ts';

test('what decides over another attempt is kept', () => {
	const facts = { notAttempted: true, noRetry: true, isRetryable: true, retryAfterMs: 5 };
	expect(toItemProblem({ outcome: 'failed', ...facts })).toMatchObject(facts);
});
