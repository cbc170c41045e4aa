/** The rows as a table, for the terminal and for docs/performance.md. */
import type { Row, Spread } from './row.mts';

const HEAD = [
	'Work',
	'Ours',
	'Limit',
	'Ours ÷ limit',
	'Peer',
	'Peer ÷ ours',
	'Requests (ours, limit, peer)',
	'Memory',
	'Goals',
];

const digits = (value: number) => (value >= 10 ? 1 : value >= 0.1 ? 2 : 3);

function time(value: number | null, spread: Spread | null): string {
	if (value === null) return '–';
	const text = `${value.toFixed(digits(value))} s`;
	if (!spread || spread[0] === spread[1]) return text;
	return `${text} (${spread.map((edge) => edge.toFixed(digits(value))).join('–')})`;
}

const count = (value: number | undefined) => value?.toLocaleString('en') ?? '–';

const cellsOf = (row: Row): string[] => [
	row.name,
	time(row.ours, row.spread.ours),
	time(row.limit, row.spread.limit),
	row.ratioToLimit?.toFixed(2) ?? '–',
	time(row.peer, row.spread.peer),
	row.ratioToPeer?.toFixed(1) ?? '–',
	row.requests
		? [row.requests.ours, row.requests.limit, row.requests.peer].map(count).join(', ')
		: '–',
	row.memoryMB === null ? '–' : `${row.memoryMB} MB`,
	row.goals.map(({ text, isMet }) => `${text} ${isMet ? '✓' : '✗'}`).join('; ') || '–',
];

/** With its notes below. */
export function printed(rows: Row[]): string {
	const lines = [HEAD, ...rows.map(cellsOf)];
	const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
	return [
		...lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')),
		...notesOf(rows),
	].join('\n');
}

const notesOf = (rows: Row[]) =>
	rows.flatMap(({ name, note }) => (note === undefined ? [] : [`- ${name}: ${note}`]));

/** The same in Markdown. */
export function asMarkdown(rows: Row[]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const notes = notesOf(rows);
	return [
		line(HEAD),
		line(HEAD.map((_, column) => (column === 0 || column === HEAD.length - 1 ? '---' : '--:'))),
		...rows.map((row) => line(cellsOf(row))),
		...(notes.length > 0 ? ['', ...notes] : []),
	].join('\n');
}
