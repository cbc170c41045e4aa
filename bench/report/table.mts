/** The rows as tables, for the terminal and for bench/RESULTS.md. */
import { chosenRows } from './choice.mts';
import { showTimes, type Result, type Row } from './row.mts';

/** A column of a table, and what a row of the table has in it. */
type Columns<Line> = Record<string, (line: Line) => string>;

const NONE = '–';

const digits = (value: number) => (value >= 10 ? 1 : value >= 0.1 ? 2 : 3);

const edges = (spread: [number, number], value: number) =>
	spread[0] === spread[1]
		? ''
		: ` (${spread.map((edge) => edge.toFixed(digits(value))).join('–')})`;

function time(result: Result | undefined): string {
	if (result?.failure !== undefined) return 'failed';
	if (!result?.spread) return NONE;
	const seconds = result.seconds!;
	return `${seconds.toFixed(digits(seconds))} s${edges(result.spread, seconds)}`;
}

const count = (value: number | undefined) => value?.toLocaleString('en') ?? NONE;

const megabytes = (result?: Result) => (result?.memoryMB == null ? NONE : `${result.memoryMB} MB`);

const block = (result?: Result) => (result?.blockMs == null ? NONE : `${result.blockMs} ms`);

/** One mark if all goals are met, otherwise those that are missed. */
const goals = ({ goals }: Row) => {
	if (goals.length === 0) return NONE;
	const missed = goals.filter(({ isMet }) => !isMet).map(({ text }) => text);
	return missed.length === 0 ? '✓' : `✗ ${missed.join('; ')}`;
};

/** The same of several contestants. */
const each = (show: (result?: Result) => string, ...results: Array<Result | undefined>) => {
	const shown = results.map(show);
	return shown.every((cell) => cell === NONE) ? NONE : shown.join(', ');
};

const fastest = (row: Row) => (row.fastestPeer === null ? undefined : row.peers[row.fastestPeer]);

const IN_N8N: Columns<Row> = {
	'In n8n': ({ name }) => name,
	Ours: ({ ours }) => time(ours),
	'By hand': (row) => (row.fastestPeer === null ? 'failed' : time(fastest(row))),
	'÷ ours': ({ ratioToPeer }) => (ratioToPeer === null ? NONE : showTimes(ratioToPeer)),
	'Memory (ours, by hand)': (row) => each(megabytes, row.ours, fastest(row)),
	'Block (ours, by hand)': (row) => each(block, row.ours, fastest(row)),
	Goals: goals,
};

const BY_HAND: Columns<{ row: Row; name: string; result: Result }> = {
	'In n8n, by hand': ({ row }) => row.name,
	'In nodes': ({ name }) => name,
	Time: ({ result }) => time(result),
};

const IN_ENGINE: Columns<Row> = {
	'In the bare engine': ({ name }) => name,
	Ours: ({ ours }) => time(ours),
	'÷ limit': ({ ratioToLimit }) => ratioToLimit?.toFixed(2) ?? NONE,
	'÷ floor': ({ ratioToFloor }) => ratioToFloor?.toFixed(2) ?? NONE,
	'Requests (ours, limit)': ({ ours, limit }) =>
		each((result) => count(result?.requests), ours, limit),
	Memory: ({ ours }) => megabytes(ours),
	Goals: goals,
};

function toTable<Line>(columns: Columns<Line>, lines: Line[]): string[] {
	if (lines.length === 0) return [];
	const names = Object.keys(columns);
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const rule = names.map((name) => (/^(In|Goals|Work|Decides)/.test(name) ? '---' : '--:'));
	const rows = lines.map((row) => line(Object.values(columns).map((show) => show(row))));
	return [[line(names), line(rule), ...rows].join('\n')];
}

const peersOf = (row: Row) =>
	Object.entries(row.peers).map(([name, result]) => ({ row, name, result }));

function notesOf(rows: Row[]): string[] {
	const contestants = rows.flatMap((row) =>
		Object.entries({ ours: row.ours, ...row.peers }).map(([name, result]) => ({
			row,
			name,
			result,
		})),
	);
	return [
		...rows.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`])),
		...contestants.flatMap(({ row, name, result: { failure } }) =>
			failure === undefined ? [] : [`${row.name}, ${name}: failed: “${failure}”`],
		),
		...contestants.flatMap(({ name, result: { differs } }) =>
			differs === undefined ? [] : [`${name} is shown but not compared: it ${differs}.`],
		),
	];
}

const median = (result: Result | undefined) =>
	result?.seconds == null ? 'fails' : `${result.seconds.toFixed(digits(result.seconds))} s`;

const CHOSEN: Columns<[row: Row, decidesFor: string]> = {
	Work: ([{ name }]) => name,
	'Data Platform': ([{ ours }]) => median(ours),
	'Fastest by hand': ([row]) => median(fastest(row)),
	Memory: ([row]) => each(megabytes, row.ours, fastest(row)),
	'Decides for': ([, decidesFor]) => decidesFor,
};

/** The few rows that users decide by. */
export const renderChoice = (rows: Row[]): string => toTable(CHOSEN, chosenRows(rows)).join('');

/** In Markdown, with the notes below. */
export function renderMarkdown(rows: Row[]): string {
	const inN8n = rows.filter(({ place }) => place === 'n8n');
	const inEngine = rows.filter(({ place }) => place === 'engine');
	return [
		...toTable(IN_N8N, inN8n),
		...toTable(BY_HAND, inN8n.flatMap(peersOf)),
		...toTable(IN_ENGINE, inEngine),
		[...new Set(notesOf(rows))].map((note) => `- ${note}`).join('\n'),
	].join('\n\n');
}
