/** What a look-up says about a request whose result is unknown. */
import { resolveByLookUp } from '../../../nodes/DataPlatform/api/resolve.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { failure, lost, pending } from '../outcomeFixtures.cts';

const bad = failure('rejected', 400);
const late = failure('ambiguous', 400, { rejection: bad });
const lateAndPending = failure('ambiguous', 400, { rejection: bad, stillPending: true });
const down = failure('notApplied', 503);

/** @param seen what the look-up finds, or its failure */
const resolve = async (failed: ServiceError, seen: string | undefined | Error) =>
	await resolveByLookUp(failed, {
		what: 'it was restored',
		lookUp: async () => (seen instanceof Error ? await Promise.reject(seen) : seen),
		unless: () => 'it is not there yet',
		hint: 'Look.',
	});

test.each([
	['a lost attempt', lost],
	['one that may be pending', pending],
	['one before a rejection', late],
])('what a look-up finds proves %s', async (_, failed) => {
	expect(await resolve(failed, 'x')).toBe('x');
});

test.each(['rejected', 'notApplied', 'canceled'] as const)('nothing is looked up after a request that is %s', async (delivery) => {
	const failed = failure(delivery);
	await expect(resolve(failed, 'x')).rejects.toBe(failed);
});

test('a rejection stands if the attempt before it left no trace', async () => {
	await expect(resolve(late, undefined)).rejects.toBe(bad);
});

test.each<[string, ServiceError, seen: Error | undefined, message: string, status?: number]>([
	['there is no trace', lost, undefined, 'ambiguous; it is not there yet', undefined],
	['it may come later', pending, undefined, 'ambiguous 504; it is not there yet', 504],
	['it may, though rejected', lateAndPending, undefined, 'ambiguous 400; it is not there yet', 400],
	['nobody can look', lost, down, 'ambiguous; looking it up failed: notApplied 503', undefined],
	['nobody can, though rejected', late, down, 'ambiguous 400; looking it up failed: notApplied 503', 400],
])('it stays unknown if %s', async (_, failed, seen, message, status) => {
	const error = await resolve(failed, seen).catch((thrown: unknown) => thrown);
	expect(error).toBeInstanceOf(ServiceError);
	expect(error).toMatchObject({
		message: `Unknown whether it was restored: ${message}`,
		...{ delivery: 'ambiguous', status, hint: 'Look.' },
	});
});

test('a defect of the look-up is thrown', async () => {
	const defect = new TypeError('a defect');
	await expect(resolve(lost, defect)).rejects.toBe(defect);
});
