/**
 * Reads and writes CSV piece by piece, as in RFC 4180 and as spreadsheets write it.
 */
import { InputError } from '../transport/errors';
import { copyOfText } from '../transport/messageText';
import { MAX_ROW_CELLS, MAX_ROW_CHARACTERS, tooLong } from './limits';
import { LABELS } from '../labels';

/** A row of a file. */
export interface CsvRow {
	/** Numbered as in a spreadsheet: the first row of the file is 1, and empty ones count. */
	row: number;
	cells: string[];
	/** What is wrong with the row itself. */
	problem?: string;
}

export type Delimiter = ',' | ';' | '\t' | '|';

/** If the header has the same number of several delimiters, the first of them in this list wins. */
const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

/** The header must end within this many characters for all of it to count in finding the delimiter. */
const MAX_HEADER_CHARACTERS = 1024 * 1024;

const QUOTE = 0x22;
const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;

type State = 'cellStart' | 'plain' | 'quoted' | 'quoteInQuoted' | 'afterCr';

/** Parses pieces of text into rows. Holds at most one row in addition to those of a piece. */
export class CsvParser {
	private state: State = 'cellStart';
	private cell = '';
	private cells: string[] = [];
	private problem?: string;
	/** The row in which the open quote is. */
	private quoteRow = 0;
	/** The length of the row so far, in characters. */
	private characters = 0;
	private rows: CsvRow[] = [];
	private readonly delimiter: number;

	/** @param row the number of the first row */
	constructor(
		delimiter: Delimiter,
		private row = 1,
	) {
		this.delimiter = delimiter.charCodeAt(0);
	}

	/** The rows that end in the text. @throws {InputError} if one is too long */
	push(text: string): CsvRow[] {
		let at = 0;
		while (at < text.length) {
			const code = text.charCodeAt(at);
			switch (this.state) {
				case 'afterCr':
					this.state = 'cellStart';
					if (code === LF) at += 1;
					break;
				case 'cellStart':
					// Some programs write a space behind the delimiter, and then the quote.
					if (code === SPACE) this.append(' ');
					else this.state = code === QUOTE ? 'quoted' : 'plain';
					if (code === QUOTE) {
						this.quoteRow = this.row;
						this.cell = '';
					}
					if (this.state !== 'plain') at += 1;
					break;
				case 'quoted': {
					const end = endOfQuoted(text, at);
					this.append(unquoted(text.slice(at, end)));
					if (end < text.length) this.state = 'quoteInQuoted';
					at = end + 1;
					break;
				}
				case 'quoteInQuoted':
					at += this.endQuote(code);
					break;
				case 'plain': {
					const end = this.endOfPlain(text, at);
					this.append(text.slice(at, end));
					at = end + 1;
					if (end < text.length) this.endCell(text.charCodeAt(end));
				}
			}
		}
		return this.take();
	}

	/**
	 * The last row, if no line end follows it.
	 *
	 * @throws {InputError} if a quote is still open
	 */
	end(): CsvRow[] {
		if (this.state === 'quoted') {
			throw new InputError(`The quote that opens in row ${this.quoteRow} is never closed`, {
				hint: 'The file is cut off, or a quote in a text is not doubled: correct the row.',
			});
		}
		this.endCell(LF);
		return this.take();
	}

	/** @param code follows a quote in quoted text @returns how many characters this uses */
	private endQuote(code: number): number {
		this.state = code === QUOTE ? 'quoted' : 'plain';
		if (code === QUOTE) {
			this.append('"');
			return 1;
		}
		if (code !== this.delimiter && code !== LF && code !== CR) {
			this.problem ??= `has text after a closing quote in column ${this.cells.length + 1}`;
		}
		return 0;
	}

	private take(): CsvRow[] {
		const { rows } = this;
		this.rows = [];
		return rows;
	}

	private endOfPlain(text: string, from: number): number {
		const { delimiter } = this;
		let at = from;
		for (; at < text.length; at++) {
			const code = text.charCodeAt(at);
			if (code === delimiter || code === LF || code === CR) break;
		}
		return at;
	}

	private append(text: string) {
		this.cell += text;
		this.characters += text.length;
		if (this.characters > MAX_ROW_CHARACTERS) {
			throw tooLong(this.row, `${MAX_ROW_CHARACTERS} characters`);
		}
	}

	private endCell(code: number) {
		// An empty line is not a row, but two quotes in a line are a row with an empty cell.
		const isEmptyLine =
			code !== this.delimiter &&
			this.cells.length === 0 &&
			this.cell === '' &&
			this.quoteRow !== this.row;
		// A copy: a part of the text would keep all of it in memory.
		if (!isEmptyLine) this.cells.push(copyOfText(this.cell));
		if (this.cells.length > MAX_ROW_CELLS) throw tooLong(this.row, `${MAX_ROW_CELLS} cells`);
		this.cell = '';
		this.state = code === CR ? 'afterCr' : 'cellStart';
		if (code === this.delimiter) return;
		if (!isEmptyLine) this.endRow();
		this.row += 1;
	}

	private endRow() {
		const { row, cells } = this;
		const column = cells.findIndex((cell) => cell.includes('\0')) + 1;
		if (column > 0) this.problem ??= `has NUL characters in column ${column}, which are not text`;
		this.rows.push({ row, cells, problem: this.problem });
		this.cells = [];
		this.characters = 0;
		this.problem = undefined;
	}
}

/** The end of quoted text that begins at a position: its quote, or the end of the text. */
function endOfQuoted(text: string, from: number): number {
	for (let at = from; ; at += 2) {
		at = text.indexOf('"', at);
		if (at < 0) return text.length;
		if (text.charCodeAt(at + 1) !== QUOTE) return at;
	}
}

/** Not `replaceAll`, which keeps a chain of all parts in memory. */
const replaced = (text: string, from: string, to: string) =>
	text.includes(from) ? text.split(from).join(to) : text;

/** The content of quoted text, in which each quote is doubled. */
const unquoted = (text: string) => replaced(text, '""', '"');

/** The first line outside quotes; undefined if the text ends before the line does. */
function firstLine(text: string): string | undefined {
	let isQuoted = false;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) isQuoted = !isQuoted;
		else if (!isQuoted && (code === LF || code === CR)) return text.slice(0, at);
	}
	return undefined;
}

/** The most frequent delimiter in a line, outside quotes. */
function detectDelimiter(line: string): Delimiter {
	const plain = line.replace(/"[^"]*"?/g, '');
	const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
	return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

/** A first line such as `sep=;`, which spreadsheets understand. */
const SEPARATOR_LINE = /^sep=([,;\t|])(?:\r\n|\r(?!$)|\n)/;

/** The text behind some lines; undefined if it has not got as many. */
function behindLines(text: string, count: number): string | undefined {
	let behind = text;
	for (let line = 0; line < count; line += 1) {
		const end = /\r\n|\n|\r(?!$)/.exec(behind);
		if (!end) return undefined;
		behind = behind.slice(end.index + end[0].length);
	}
	return behind;
}

/** The beginning of a file from its header row on, and that row, as far as they were read. */
function beginningOf(head: string, headerRow: number) {
	const line = SEPARATOR_LINE.exec(head);
	const text = behindLines(head.slice(line?.[0].length), headerRow - 1);
	const header = text === undefined ? undefined : firstLine(text.replace(/^[\r\n]+/, ''));
	return { text, header, named: line?.[1] as Delimiter | undefined };
}

/** The rows that end in a text, and in each of the pieces after it. */
async function* parsed(parser: CsvParser, text: string, pieces: AsyncIterable<string>) {
	let rows = parser.push(text);
	if (rows.length > 0) yield rows;
	for await (const piece of pieces) {
		rows = parser.push(piece);
		if (rows.length > 0) yield rows;
	}
	rows = parser.end();
	if (rows.length > 0) yield rows;
}

/**
 * Opens a CSV file. Returns its delimiter, and the rows that end in each piece of its text.
 *
 * @param chosen the delimiter; if not set, it is detected in the header
 * @param headerRow the first row to read
 * @throws {InputError} if the file has no such row
 */
export async function openCsv(
	pieces: AsyncGenerator<string>,
	chosen?: Delimiter,
	headerRow = 1,
): Promise<{ delimiter: Delimiter; rows: AsyncGenerator<CsvRow[]> }> {
	let head = '';
	let beginning = beginningOf(head, headerRow);
	while (beginning.header === undefined && head.length <= MAX_HEADER_CHARACTERS) {
		const next = await pieces.next();
		if (next.done) break;
		head += next.value;
		beginning = beginningOf(head, headerRow);
	}
	const { text, header, named } = beginning;
	if (text === undefined || (headerRow > 1 && text.trim() === '')) {
		throw new InputError(`The file has no row ${headerRow} in its first MiB`, {
			hint: `Correct '${LABELS.headerRow}' in the options.`,
		});
	}
	const delimiter = chosen ?? named ?? detectDelimiter(header ?? text);
	return { delimiter, rows: parsed(new CsvParser(delimiter, headerRow), text, pieces) };
}

/** A line of CSV with its line end. */
export function csvLine(cells: string[], delimiter: Delimiter): string {
	const line = cells.map((cell) => csvCell(cell, delimiter)).join(delimiter);
	// An empty line would not count as a row.
	return `${line === '' ? '""' : line}\r\n`;
}

const NEEDS_QUOTES = /["\r\n]|^\s|\s$/;

const csvCell = (cell: string, delimiter: Delimiter) =>
	NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${replaced(cell, '"', '""')}"` : cell;
