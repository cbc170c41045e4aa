/** Work with the same key is done in turn, in the order in which it was asked for. */
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
