/** What the programs that check at random share: their options, and what they print. */

/** How many failures to show in full. */
const SHOWN = 8;

/** Longer than any run takes. */
export const LONGEST_RUN_MS = 600_000;

export function wholeNumber(name: string, text: string): number {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} ${text}: no number`);
	return number;
}

export const seedOf = (text?: string): number => (text === undefined ? Math.floor(Math.random() * 1e9) : wholeNumber('seed', text));

export async function within<Result>(work: Promise<Result>): Promise<Result> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error('It does not end.')), LONGEST_RUN_MS);
	});
	return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Counts runs, and prints what is wrong with them. */
export class Results {
	passed = 0;
	failed = 0;

	/** @param again the command that repeats it */
	add(title: string, { problems, evidence = [] }: { problems: string[]; evidence?: string[] }, again: string) {
		if (problems.length === 0) {
			this.passed += 1;
			return;
		}
		this.failed += 1;
		if (this.failed > SHOWN) {
			console.log(`✗ ${title}: ${problems[0]!.slice(0, 300)}`);
			return;
		}
		console.log(`\n✗ ${title}`);
		for (const line of problems) console.log(`    ${line.slice(0, 1000)}`);
		for (const line of evidence) console.log(`      ${line.slice(0, 400)}`);
		console.log(`    npm run check -- ${again}`);
	}
}
