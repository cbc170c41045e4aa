/**
 * Finds the known name that a mistyped one means. A wrong suggestion would send values to a wrong
 * field, so only what is nearly identical is one: `firstname` for `Fristname`, not for `lastname`.
 */
import { nameList } from './messageText';

/** Something with a name, and another one that people see. */
interface KnownName {
	name: string;
	header?: string;
}

/** A letter too many, too few or wrong, or two that are swapped: one in this many letters. */
const LETTERS_PER_SLIP = 5;

const MAX_SLIPS = 2;

const MAX_LETTERS = 100;

/** A name without case, accents and separators. */
const plain = (text: string) =>
	text
		.toLowerCase()
		.normalize('NFD')
		.replace(/[^\p{L}\p{N}]/gu, '');

/** One slip is a letter too many, too few or wrong, or a swap: `fristname` for `firstname`. */
function isWithin(one: string, other: string, slips: number): boolean {
	let same = 0;
	while (same < one.length && one[same] === other[same]) same += 1;
	const [a, b] = [one.slice(same), other.slice(same)];
	if (a === '' || b === '') return a.length + b.length <= slips;
	if (slips === 0) return false;
	const isSwapped = a[0] === b[1] && a[1] === b[0];
	return (
		isWithin(a.slice(1), b.slice(1), slips - 1) ||
		isWithin(a.slice(1), b, slips - 1) ||
		isWithin(a, b.slice(1), slips - 1) ||
		(isSwapped && isWithin(a.slice(2), b.slice(2), slips - 1))
	);
}

const digitsOf = (text: string) => text.replace(/\D/g, '');

/** Another digit is no slip: `address1` is not `address2`. */
const isClose = (a: string, b: string, slips: number) =>
	slips * LETTERS_PER_SLIP <= Math.max(a.length, b.length) &&
	Math.abs(a.length - b.length) <= slips &&
	isWithin(a, b, slips) &&
	digitsOf(a) === digitsOf(b);

/**
 * The known name that a mistyped one means; none if several are equally close, but all that differ
 * in nothing but case, accents and separators.
 */
export function closestNames(name: string, known: KnownName[]): string[] {
	const wanted = plain(name.slice(0, MAX_LETTERS + 1));
	if (wanted === '' || wanted.length > MAX_LETTERS) return [];
	const texts = known.map(({ name, header = '' }) => [plain(name), plain(header)]);
	for (let slips = 0; slips <= MAX_SLIPS; slips += 1) {
		const close = known.filter((_, at) => texts[at]!.some((text) => isClose(wanted, text, slips)));
		if (close.length > 1 && slips > 0) return [];
		if (close.length > 0) return close.map(({ name }) => name);
	}
	return [];
}

/** The end of a sentence about a name that is not known; empty if no known one is close. */
export function didYouMean(name: string, known: KnownName[]): string {
	const closest = closestNames(name, known);
	if (closest.length > 1) return `, several fit: ${nameList(closest)}`;
	return closest.length === 0 ? '' : `, did you mean '${closest[0]!}'?`;
}
