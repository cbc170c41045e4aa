/** Runs work with the same key one after the other, in the order of the calls. */
export class Turns {
	private readonly last = new Map<string, Promise<unknown>>();

	async next<T>(key: string, work: () => Promise<T>): Promise<T> {
		const result = (this.last.get(key) ?? Promise.resolve()).then(work, work);
		this.last.set(key, result);
		try {
			return await result;
		} finally {
			if (this.last.get(key) === result) this.last.delete(key);
		}
	}
}
