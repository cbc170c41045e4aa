/**
 * NDJSON: one JSON object per line.
 */
import { InputError } from '../transport/errors';
import { endOfText, isObject, withExactNumbers } from '../transport/json';
import { beginningOf, MAX_ROW_CHARACTERS, MAX_ROW_VALUES } from './limits';

/** A line of a file. */
export interface NdjsonRow {
	/** The line, counted from 1. */
	row: number;
	/** The line as in the file; only its beginning if it is too long. */
	line: string;
	/**
	 * Its values, with numbers that would lose digits as text; undefined if it is not a JSON object.
	 */
	values?: Record<string, unknown>;
	problem?: string;
}

/** Counts values, lists and objects, without parsing: a line `{"a":[1,2]}` counts three. */
function hasTooMany(line: string): boolean {
	if (line.length <= MAX_ROW_VALUES) return false;
	let count = 0;
	for (let at = 0; at < line.length && count <= MAX_ROW_VALUES; at++) {
		const character = line[at]!;
		if (character === '"') at = endOfText(line, at);
		else if (',[{'.includes(character)) count += 1;
	}
	return count > MAX_ROW_VALUES;
}

const cutLine = (row: number, line: string, problem: string): NdjsonRow => ({
	row,
	line: beginningOf(line),
	problem,
});

function parseLine(row: number, line: string): NdjsonRow {
	if (hasTooMany(line)) return cutLine(row, line, `has more than ${MAX_ROW_VALUES} values`);
	let values: unknown;
	try {
		values = JSON.parse(line);
		const exact = withExactNumbers(line);
		if (exact !== line) values = JSON.parse(exact);
	} catch (error) {
		return { row, line, problem: `is not valid JSON: ${(error as Error).message}` };
	}
	if (isObject(values)) return { row, line, values };
	return { row, line, problem: 'is not a JSON object' };
}

/**
 * Reads the rows of an NDJSON file, and returns those that end in each piece of its text. Skips
 * empty lines.
 *
 * @throws {InputError} if the file is a JSON list
 */
export async function* readNdjson(pieces: AsyncIterable<string>): AsyncGenerator<NdjsonRow[]> {
	let row = 1;
	let held = '';
	let isCut = false;
	let isFirst = true;
	const toRow = (): NdjsonRow[] => {
		const number = row++;
		const text = held.trim();
		held = '';
		if (isCut) {
			isCut = false;
			return [cutLine(number, text, `has more than ${MAX_ROW_CHARACTERS} characters`)];
		}
		if (text === '') return [];
		if (isFirst && text.startsWith('[')) {
			throw new InputError('The file is a JSON list, not NDJSON with one JSON object per line', {
				hint: "Write one object per line, or read it with the node 'Extract From File' and write its items.",
			});
		}
		isFirst = false;
		return [parseLine(number, text)];
	};
	const hold = (text: string) => {
		if (isCut) return;
		held += text;
		isCut = held.length > MAX_ROW_CHARACTERS;
	};
	for await (const piece of pieces) {
		const rows: NdjsonRow[] = [];
		let at = 0;
		for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', at)) {
			hold(piece.slice(at, end));
			rows.push(...toRow());
			at = end + 1;
		}
		hold(piece.slice(at));
		if (rows.length > 0) yield rows;
	}
	const rows = toRow();
	if (rows.length > 0) yield rows;
}
