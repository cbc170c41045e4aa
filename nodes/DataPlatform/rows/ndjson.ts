/**
 * NDJSON: one JSON object per line.
 */
import { InputError } from '../transport/errors';
import { isExcessive, isObject, withExactNumbers } from '../transport/json';
import { copyOfText } from '../transport/messageText';
import { MAX_ROW_CHARACTERS, tooLong } from './limits';

/** A line of a file. */
export interface NdjsonRow {
	/** The line, counted from 1. */
	row: number;
	/** The line as in the file. */
	line: string;
	/**
	 * Its values, with numbers that would lose digits as text; undefined if it is not a JSON object.
	 */
	values?: Record<string, unknown>;
	problem?: string;
}

function parseLine(row: number, line: string): NdjsonRow {
	if (isExcessive(line))
		return { row, line, problem: 'is nested too deeply, or has too many values' };
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
 * @throws {InputError} if the file is a JSON list, or a line is too long
 */
export async function* readNdjson(pieces: AsyncIterable<string>): AsyncGenerator<NdjsonRow[]> {
	let row = 1;
	let held = '';
	let isFirst = true;
	const toRow = (): NdjsonRow[] => {
		const number = row++;
		// A copy: a part of the text would keep all of it in memory.
		const text = copyOfText(held.trim());
		held = '';
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
		held += text;
		if (held.length > MAX_ROW_CHARACTERS) throw tooLong(row, `${MAX_ROW_CHARACTERS} characters`);
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
