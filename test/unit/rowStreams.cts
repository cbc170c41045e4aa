/** Input and output of the readers of row files. */

export async function* asPieces<T>(...pieces: T[]): AsyncGenerator<T> {
	yield* pieces;
}

/** Pieces of a file that then fails. */
export async function* thenFails<T>(error: Error, ...pieces: T[]): AsyncGenerator<T> {
	yield* pieces;
	throw error;
}

/** What a reader returns until it ends or fails: each time, and in all. */
export async function collect<T>(source: AsyncIterable<T[]>) {
	const portions: T[][] = [];
	let error: string | undefined;
	try {
		for await (const some of source) {
			if (some.length === 0) throw new Error('A portion without rows');
			portions.push(some);
		}
	} catch (failure) {
		error = (failure as Error).message;
	}
	return { portions, rows: portions.flat(), error };
}
