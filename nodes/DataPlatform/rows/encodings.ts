/**
 * The encodings of text files: their names, and which of them a file may have.
 */
import { showValue } from '../fields/convert';

/** The encodings that Node.js reads, by what people look for. */
export const ENCODINGS = {
	'windows-1256': 'Arabic (Windows-1256)',
	'windows-1257': 'Baltic (Windows-1257)',
	'iso-8859-2': 'Central European (ISO 8859-2)',
	'windows-1250': 'Central European (Windows-1250)',
	gb18030: 'Chinese Simplified (GB18030, GBK)',
	big5: 'Chinese Traditional (Big5)',
	'iso-8859-5': 'Cyrillic (ISO 8859-5)',
	'koi8-r': 'Cyrillic (KOI8-R)',
	ibm866: 'Cyrillic (OEM 866)',
	'windows-1251': 'Cyrillic (Windows-1251)',
	'iso-8859-7': 'Greek (ISO 8859-7)',
	'windows-1253': 'Greek (Windows-1253)',
	'windows-1255': 'Hebrew (Windows-1255)',
	'euc-jp': 'Japanese (EUC-JP)',
	shift_jis: 'Japanese (Shift JIS)',
	'euc-kr': 'Korean (EUC-KR)',
	'windows-874': 'Thai (Windows-874)',
	'windows-1254': 'Turkish (Windows-1254)',
	'utf-16be': 'UTF-16 BE',
	'utf-16le': 'UTF-16 LE',
	'utf-8': 'UTF-8',
	'windows-1258': 'Vietnamese (Windows-1258)',
	'iso-8859-15': 'Western European (ISO 8859-15)',
	macintosh: 'Western European (Macintosh)',
	'windows-1252': 'Western European (Windows-1252)',
} as const;

/** If several are equally plausible, these come first. */
const COMMON = ['1252', '1250', '1251', '1253', '1254', '1257'].map((page) => `windows-${page}`);

/** How many bytes of a line to show, and to judge encodings by. */
const SHOWN_BYTES = 60;
const JUDGED_BYTES = 2000;

/** How many encodings to show a line in. */
const READINGS = 4;

/** A word of one script. A Latin one has a letter from A to Z. */
const WORD =
	/^(?:(?=.*[a-z])\p{Script=Latin}+|\p{Script=Cyrillic}+|\p{Script=Greek}+|[\p{Lo}\p{Lm}\p{M}]+)$/iu;

/** The share of words that may be some. A guess: people choose. */
function plausibility(text: string): number {
	const words = text.split(/[\0-/:-@]+/).filter((word) => /[^\0-\x7f]/.test(word));
	const isWord = (word: string) => {
		const letters = word.normalize().replace(/^[^\p{L}]+|[^\p{L}\p{M}]+$/gu, '');
		return letters === '' || (WORD.test(letters) && !/\p{Ll}\p{Lu}/u.test(letters));
	};
	return words.filter(isWord).length / (words.length || 1);
}

/** The line around a byte as the most plausible encodings read it, in words. */
export function readingsOf(bytes: Uint8Array, at: number): string {
	const start = Math.max(bytes.lastIndexOf(0x0a, at - 1) + 1, at - SHOWN_BYTES / 2);
	const judged = bytes.subarray(start, start + JUDGED_BYTES);
	const readings = new Map<string, { name: string; score: number }>();
	for (const encoding of new Set([...COMMON, ...Object.keys(ENCODINGS)])) {
		const text = new TextDecoder(encoding).decode(judged, { stream: true });
		const isText = !/[\ufffd\0\x80-\x9f\ue000-\uf8ff]/.test(text);
		const isLikely = !encoding.startsWith('utf-16') || judged.includes(0);
		// One that nobody would write is still better than none.
		const score = isText && isLikely ? 0.1 + plausibility(text) : 0;
		const line = text.slice(0, SHOWN_BYTES).split(/[\r\n]/)[0]!;
		const name = ENCODINGS[encoding as keyof typeof ENCODINGS];
		if (score > (readings.get(line)?.score ?? 0)) readings.set(line, { name, score });
	}
	return [...readings]
		.sort(([, one], [, other]) => other.score - one.score)
		.slice(0, READINGS)
		.map(([line, { name }]) => `${showValue(line)} as ${name}`)
		.join(', ');
}
