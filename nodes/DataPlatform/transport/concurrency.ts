/**
 * Works on entries in order, a few at a time. After an error no further entry is begun.
 *
 * @throws the first error, once no work is under way any more
 */
export async function forEachConcurrent<T>(
	entries: Iterable<T>,
	concurrency: number,
	work: (entry: T) => Promise<void>,
): Promise<void> {
	const queue = entries[Symbol.iterator]();
	const errors: unknown[] = [];
	const worker = async () => {
		for (let next = queue.next(); !next.done && errors.length === 0; next = queue.next()) {
			await work(next.value).catch((error) => errors.push(error));
		}
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
	if (errors.length > 0) throw errors[0];
}
