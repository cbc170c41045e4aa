/**
 * A change to the source, as it is shown and as `equivalent.mts` names it.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { EQUIVALENT } from './equivalent.mts';

const SOURCES = join(import.meta.dirname, '..', '..', 'nodes', 'DataPlatform');

/** A longer text of source is cut in its middle, so that it is the same after small changes there. */
const SHOWN = 120;

/** A mutant: its lines before and after. */
export interface Change {
	/** In `nodes/DataPlatform`. */
	file: string;
	from: string;
	to: string;
}

interface Place {
	line: number;
	column: number;
}

const sources = new Map<string, string[]>();

function linesOf(fileName: string): string[] {
	const lines = sources.get(fileName) ?? readFileSync(fileName, 'utf8').split('\n');
	sources.set(fileName, lines);
	return lines;
}

const plain = (text: string) => {
	const line = text.replace(/\s+/g, ' ').trim();
	const half = SHOWN / 2;
	return line.length <= SHOWN ? line : `${line.slice(0, half)} … ${line.slice(-half)}`;
};

/** @param location lines and columns, counted from 0 */
export function changeAt(
	fileName: string,
	{ start, end }: { start: Place; end: Place },
	replacement: string,
): Change {
	const touched = linesOf(fileName).slice(start.line, end.line + 1);
	const before = touched[0]!.slice(0, start.column);
	const after = touched.at(-1)!.slice(end.column);
	return {
		file: relative(SOURCES, fileName),
		from: plain(touched.join(' ')),
		to: plain(`${before}${replacement}${after}`),
	};
}

export const isEquivalent = ({ file, from, to }: Change): boolean =>
	EQUIVALENT[file]?.some((known) => known.from === from && known.to === to) ?? false;

/** Entries in the list of equivalents, for the changed files, that match none of the changes. */
export const outdatedEquivalents = (changes: Change[]): Change[] =>
	[...new Set(changes.map(({ file }) => file))].flatMap((file) => {
		const made = new Set(
			changes.filter((change) => change.file === file).map(({ from, to }) => `${from}\n${to}`),
		);
		return (EQUIVALENT[file] ?? [])
			.filter(({ from, to }) => !made.has(`${from}\n${to}`))
			.map(({ from, to }) => ({ file, from, to }));
	});
