/** Finds the known name that a mistyped one means. */

/** Names that differ in more than this share of their letters are not suggested. */
const CLOSE_ENOUGH = 0.4;

/** How many letters two names differ in; `Infinity` if more than `limit`. */
function editDistance(a: string, b: string, limit: number): number {
	if (Math.abs(a.length - b.length) > limit) return Infinity;
	let row = Uint16Array.from({ length: b.length + 1 }, (_, index) => index);
	let next = new Uint16Array(row.length);
	for (let i = 1; i <= a.length; i++) {
		const letter = a.charCodeAt(i - 1);
		let least = (next[0] = i);
		for (let j = 1; j <= b.length; j++) {
			const replaced = row[j - 1]! + (letter === b.charCodeAt(j - 1) ? 0 : 1);
			const added = (row[j]! < next[j - 1]! ? row[j]! : next[j - 1]!) + 1;
			next[j] = replaced < added ? replaced : added;
			if (next[j]! < least) least = next[j]!;
		}
		if (least > limit) return Infinity;
		[row, next] = [next, row];
	}
	return row[b.length]!;
}

/** The known name that a mistyped one most likely means. */
export function closestName(name: string, known: string[]): string | undefined {
	if (name.length > 100) return undefined;
	const plain = (text: string) => text.toLowerCase().replace(/[\s_-]/g, '');
	const wanted = plain(name);
	let best: string | undefined;
	let least = Infinity;
	for (const candidate of known) {
		const limit = Math.min(Math.max(1, candidate.length * CLOSE_ENOUGH), least);
		const distance = editDistance(wanted, plain(candidate), limit);
		if (distance > limit || distance >= least) continue;
		best = candidate;
		least = distance;
	}
	return best;
}
