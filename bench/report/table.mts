/** The rows as a table, for the terminal and for docs/performance.md. */
import type { Row, Spread } from './row.mts';

const HEAD = [
	'Work',
	'Ours',
	'Limit',
	'Ours ÷ limit',
	'Ours ÷ floor',
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
	row.ratioToFloor?.toFixed(2) ?? '–',
	time(row.peer, row.spread.peer),
	row.ratioToPeer?.toFixed(1) ?? '–',
	row.requests
		? [row.requests.ours, row.requests.limit, row.requests.peer].map(count).join(', ')
		: '–',
	row.memoryMB === null ? '–' : `${row.memoryMB} MB`,
	row.goals.map(({ text, isMet }) => `${text} ${isMet ? '✓' : '✗'}`).join('; ') || '–',
];

const SWEEP_HEAD = ['Sweep', 'Time', 'One after the other', 'Ratio'];

const sweepCellsOf = (row: Row): string[] => [
	row.name,
	time(row.ours, row.spread.ours),
	time(row.limit, row.spread.limit),
	row.ratioToLimit?.toFixed(2) ?? '–',
];

/** What is measured against a goal, and what looks for a default. */
function tablesOf(rows: Row[]): string[][][] {
	const sweeps = rows.filter(({ isSweep }) => isSweep);
	const others = rows.filter(({ isSweep }) => !isSweep);
	return [
		[HEAD, ...others.map(cellsOf)],
		[SWEEP_HEAD, ...sweeps.map(sweepCellsOf)],
	].filter((lines) => lines.length > 1);
}

const notesOf = (rows: Row[]) =>
	rows.flatMap(({ name, note }) => (note === undefined ? [] : [`- ${name}: ${note}`]));

function aligned(lines: string[][]): string {
	const widths = lines[0]!.map((_, column) =>
		Math.max(...lines.map((line) => line[column]!.length)),
	);
	return lines
		.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
		.join('\n');
}

/** For the terminal, with the notes below. */
export const renderText = (rows: Row[]): string =>
	[...tablesOf(rows).map(aligned), notesOf(rows).join('\n')].join('\n\n');

function markdown([head = [], ...lines]: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const rule = head.map((_, column) =>
		column === 0 || column === HEAD.length - 1 ? '---' : '--:',
	);
	return [line(head), line(rule), ...lines.map(line)].join('\n');
}

/** The same in Markdown. */
export const renderMarkdown = (rows: Row[]): string =>
	[...tablesOf(rows).map(markdown), notesOf(rows).join('\n')].join('\n\n');
