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

/** In a shorter name, one slip makes another word of it. */
const MIN_LETTERS = 5;

/** A name without case, accents and separators. */
const plain = (text: string) =>
	text
		.toLowerCase()
		.normalize('NFD')
		.replace(/[^\p{L}\p{N}]/gu, '');

const digitsOf = (text: string) => text.replace(/\D/g, '');

/**
 * One letter is too many, too few or wrong, or two are swapped. Another digit is no slip: `address1` is
 * not `address2`.
 */
function isOneSlip(one: string, other: string): boolean {
	if (Math.max(one.length, other.length) < MIN_LETTERS) return false;
	if (digitsOf(one) !== digitsOf(other)) return false;
	let same = 0;
	while (same < one.length && one[same] === other[same]) same += 1;
	const [a, b] = [one.slice(same), other.slice(same)];
	const isSwapped = a[0] === b[1] && a[1] === b[0];
	return (
		a.slice(1) === b.slice(1) ||
		a.slice(1) === b ||
		a === b.slice(1) ||
		(isSwapped && a.slice(2) === b.slice(2))
	);
}

/**
 * The end of a sentence about a name that is not known. It names the known one that is meant, or all
 * that differ in nothing but case, accents and separators; empty if there is none, or several are
 * equally close.
 */
export function didYouMean(name: string, known: KnownName[]): string {
	const wanted = plain(name);
	if (wanted === '') return '';
	const fitting = (fits: (text: string) => boolean) =>
		known.filter(({ name, header = '' }) => fits(plain(name)) || fits(plain(header)));
	const same = fitting((text) => text === wanted);
	if (same.length > 1) return `, several fit: ${nameList(same.map((one) => one.name))}`;
	const [closest, other] = same[0] ? same : fitting((text) => isOneSlip(wanted, text));
	return !closest || other ? '' : `, did you mean '${closest.name}'?`;
}
