/**
 * The instructions of the README and of the notes on the canvas, read from their text: a block that
 * starts with an instruction is a series of steps.
 */

type Click = 'newWorkflow' | 'closePanel' | 'comeBack' | 'press' | 'doubleClick' | 'choose' | 'open';
type Entry = 'searchFor' | 'set' | 'enter' | 'write';

export interface Step {
	kind: Click | Entry | 'expect';
	/** The name of the element to press, the parameter's label, or the URL to open. */
	text: string;
	/** What to choose or enter; anything if undefined. */
	value?: string;
}

/** A name in bold or italics. */
const NAME = String.raw`(?:\*\*|[*_])([^*_]+?)\.?(?:\*\*|[*_])`;
const CODE = '`([^`]+)`';

const GRAMMAR: Array<[pattern: string, step: (...parts: string[]) => Step]> = [
	['[Ii]n a new workflow', () => ({ kind: 'newWorkflow', text: '' })],
	['[Cc]lose the panel', () => ({ kind: 'closePanel', text: '' })],
	['[Cc]ome back', () => ({ kind: 'comeBack', text: '' })],
	[`[Pp]ress ${NAME}`, (text = '') => ({ kind: 'press', text })],
	[`[Dd]ouble-click ${NAME}`, (text = '') => ({ kind: 'doubleClick', text })],
	[`[Ss]earch for ${NAME}`, (text = '') => ({ kind: 'searchFor', text })],
	[`[Cc]hoose ${NAME}`, (text = '') => ({ kind: 'choose', text })],
	[`[Ww]rite: ${NAME}`, (text = '') => ({ kind: 'write', text })],
	[`[Ee]nter ${CODE} in ${NAME}`, (value, text = '') => ({ kind: 'enter', text, value })],
	[`[Ee]nter an? ${NAME}`, (text = '') => ({ kind: 'enter', text })],
	[`${NAME}: ([A-Z][A-Za-z ]+)\\.`, (text = '', value) => ({ kind: 'set', text, value })],
	[String.raw`(?:[Ss]ee|[Oo]pen) [^[]*\[[^\]]+\]\(([^)]+)\)`, (text = '') => ({ kind: 'open', text })],
];

/** Words that start a step: a block with one that is not understood fails. */
const VERBS = /\b(press|double-click|search for|choose|enter|write|close|open)\b/i;

/** The paragraphs and list items, each as one line. */
export const blocksOf = (markdown: string): string[] =>
	markdown
		.replaceAll(/^#.*$/gm, '')
		.split(/\n\s*\n|\n(?=\s*(?:\d+\.|-) )/)
		.map((block) => block.replaceAll(/\s+/g, ' ').trim())
		.filter((block) => block !== '')
		.map((block) => block.replace(/^(?:\d+\.|-) /, ''));

/**
 * The steps of a block; none if it only explains something.
 *
 * @throws Error if it contains an instruction that is not understood
 */
export function stepsOf(block: string): Step[] {
	const found = GRAMMAR.flatMap(([pattern, step]) =>
		[...block.matchAll(new RegExp(pattern, 'g'))].map((match) => ({
			start: match.index,
			end: match.index + match[0].length,
			step: step(...match.slice(1)),
		})),
	)
		.sort((one, other) => one.start - other.start)
		.filter(({ start }, index, all) => index === 0 || start >= all[index - 1]!.end);
	const [first] = found;
	if (first === undefined || !isBeginning(block.slice(0, first.start))) return [];

	const steps: Step[] = [];
	for (const [index, { end, step }] of found.entries()) {
		steps.push(step);
		const after = block.slice(end, found[index + 1]?.start);
		const explanation = after.replaceAll(/`[^`]+`/g, '');
		const verb = explanation.match(VERBS);
		if (verb) throw new Error(`What does "${verb[0]}" mean in "${after.trim()}"?`);
		if (step.kind !== 'press' && step.kind !== 'doubleClick') continue;
		// What the sentence itself says about the outcome, not later ones.
		const [sentence = ''] = after.split(/\. (?=[A-Z*_])/, 1);
		for (const [, text = ''] of sentence.matchAll(new RegExp(CODE, 'g'))) {
			steps.push({ kind: 'expect', text });
		}
	}
	return steps;
}

/**
 * Whether a block that starts like this is about now: not about later, and not about another n8n.
 */
const isBeginning = (text: string): boolean => /^(?:To [\w ]+, |\*\*To [\w ]+\*\*: )?$/.test(text);

/** All steps of a text, in order. */
export const readSteps = (markdown: string): Step[] => blocksOf(markdown).flatMap(stepsOf);

/** The part of a page under a heading. */
export function sectionOf(page: string, heading: string): string {
	const [, after] = page.split(`\n## ${heading}\n`);
	if (after === undefined) throw new Error(`There is no heading "${heading}".`);
	return after.split('\n## ', 1)[0]!;
}

/** The targets of a text's links. */
export const linksOf = (markdown: string): string[] => [...markdown.matchAll(/\]\((https?:[^)]+)\)/g)].map(([, url]) => url!);
