/**
 * Finds out what became of a request whose result is unknown. Every operation that changes something
 * outside of batches uses it:
 *
 *     const result = await client.tryRequest({ …, retryMode: 'idempotent' });
 *     if (!(result instanceof ServiceError)) return result.body;
 *     return await resolveByLookUp(result, {
 *       what: 'the record was restored',
 *       lookUp: async () => (await findRecord(table, id)) ?? undefined,
 *       unless: () => 'the record is not there yet',
 *     });
 *
 * Without it, nothing breaks: the result then stays unknown.
 */
import { serviceErrorOrThrow, ServiceError } from '../transport/errors';

export interface LookUp<T> {
	/** Completes `Unknown whether …`. */
	what: string;
	/** Reads what shows that the request was applied; undefined if nothing does. */
	lookUp(): Promise<T | undefined>;
	/** What the look-up shows instead, in words. */
	unless(): string;
	hint: string;
}

/**
 * A look-up that shows no change proves little: the request may still be applied. So only a rejection
 * of a later attempt ends it.
 *
 * @param failure of the request, whatever it is
 * @returns what the look-up found
 * @throws {ServiceError} the rejection, or that the result is unknown
 */
export async function resolveByLookUp<T>(
	failure: ServiceError,
	{ what, lookUp, unless, hint }: LookUp<T>,
): Promise<T> {
	if (failure.delivery !== 'ambiguous') throw failure;
	const { message, status, rejection, stillPending } = failure;
	const unknown = (finding: string) =>
		new ServiceError(`Unknown whether ${what}: ${message}; ${finding}`, {
			delivery: 'ambiguous',
			status,
			hint,
		});
	const found = await lookUp().catch(serviceErrorOrThrow);
	if (found instanceof ServiceError) throw unknown(`looking it up failed: ${found.message}`);
	if (found !== undefined) return found;
	if (rejection && !stillPending) throw rejection;
	throw unknown(unless());
}
