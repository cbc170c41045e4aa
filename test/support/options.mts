/** The options of a program that checks at random. */
import { parseArgs } from 'node:util';

/**
 * Numbers with these defaults, texts that are empty by default, and the seed, which is drawn.
 *
 * @throws {Error} if an option is unknown, or not a number
 */
export function readOptions<Numeric extends string, Text extends string = never>(defaults: Record<Numeric, number>, ...texts: Text[]) {
	const names = ['seed', ...Object.keys(defaults), ...texts];
	const { values } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])) });
	const numberOf = (name: string, otherwise: number): number => {
		const text = values[name];
		const number = text === undefined ? otherwise : Number(text);
		if (!(number >= 0)) throw new Error(`--${name} ${text}: no number`);
		return number;
	};
	return {
		...Object.fromEntries(Object.entries<number>(defaults).map(([name, otherwise]) => [name, numberOf(name, otherwise)])),
		...Object.fromEntries(texts.map((name) => [name, values[name] ?? ''])),
		seed: numberOf('seed', Math.floor(Math.random() * 1e9)),
	} as Record<Numeric, number> & Record<Text, string> & { seed: number };
}
