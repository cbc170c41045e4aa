/** Runs `work` for each item, at most `limit` at once; rejects with the first failure. */
export async function forEachConcurrently<Item>(
	items: readonly Item[],
	limit: number,
	work: (item: Item) => Promise<void>,
): Promise<void> {
	const queue = items.values();
	const worker = async () => {
		for (const item of queue) await work(item);
	};
	await Promise.all(Array.from({ length: limit }, worker));
}
