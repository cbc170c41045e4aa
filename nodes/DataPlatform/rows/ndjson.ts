/**
 * NDJSON: one JSON object a line.
 */
import { InputError } from '../transport/errors';
import { isObject, withExactNumbers } from '../transport/json';

/** A line of a file. */
export interface NdjsonRow {
	/** The line, counted from 1. */
	row: number;
	/** The line as it stands in the file; its beginning where it is too long. */
	line: string;
	/** What it holds, numbers that would lose digits as text; undefined where it is no JSON object. */
	values?: Record<string, unknown>;
	problem?: string;
}

/** A line may have as many characters. */
export const MAX_LINE_CHARACTERS = 16 * 1024 * 1024;

/** What remains of a longer one, to recognize it by. */
const SHOWN_OF_LONG_LINE = 100;

function parseLine(row: number, line: string): NdjsonRow {
	let values: unknown;
	try {
		values = JSON.parse(line);
		const exact = withExactNumbers(line);
		if (exact !== line) values = JSON.parse(exact);
	} catch (error) {
		return { row, line, problem: `is not valid JSON: ${(error as Error).message}` };
	}
	return isObject(values) ? { row, line, values } : { row, line, problem: 'is not a JSON object' };
}

/**
 * The rows of an NDJSON file, those that end in one piece of its text at a time. Empty lines are
 * left out.
 *
 * @throws {InputError} where the file is a JSON list
 */
export async function* readNdjson(pieces: AsyncIterable<string>): AsyncGenerator<NdjsonRow[]> {
	let row = 1;
	let held = '';
	let isLong = false;
	let isFirst = true;
	const toRow = (line: string): NdjsonRow[] => {
		const number = row++;
		if (isLong) {
			isLong = false;
			return [
				{
					row: number,
					line: `${held}…`,
					problem: `has more than ${MAX_LINE_CHARACTERS} characters`,
				},
			];
		}
		const text = line.trim();
		if (text === '') return [];
		if (isFirst && text.startsWith('[')) {
			throw new InputError('The file is a JSON list, not NDJSON with one JSON object a line', {
				hint: "Write one object a line, or read it with the node 'Extract From File' and write its items.",
			});
		}
		isFirst = false;
		return [parseLine(number, text)];
	};
	const hold = (text: string) => {
		if (isLong) return;
		held += text;
		if (held.length <= MAX_LINE_CHARACTERS) return;
		isLong = true;
		held = held.slice(0, SHOWN_OF_LONG_LINE);
	};
	for await (const piece of pieces) {
		const rows: NdjsonRow[] = [];
		let at = 0;
		for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', at)) {
			hold(piece.slice(at, end));
			rows.push(...toRow(held));
			held = '';
			at = end + 1;
		}
		hold(piece.slice(at));
		if (rows.length > 0) yield rows;
	}
	const rows = toRow(held);
	if (rows.length > 0) yield rows;
}

/** A line of NDJSON with its line end. */
export const ndjsonLine = (values: object): string => `${JSON.stringify(values)}\n`;
