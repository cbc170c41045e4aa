/** The rows as tables, for the terminal and for docs/performance.md. */
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

/** Every workflow but ours and the fastest one. */
const slower = (row: Row) =>
	Object.entries(row.peers)
		.filter(([name]) => name !== row.fastestPeer)
		.map(([name, result]) => `${time(result)}, ${name}`)
		.join('; ') || NONE;

const IN_N8N: Columns<Row> = {
	'In n8n': ({ name }) => name,
	Ours: ({ ours }) => time(ours),
	'Fastest hand-built workflow': (row) =>
		row.fastestPeer === null ? 'all failed' : `${time(fastest(row))}, ${row.fastestPeer}`,
	'Its time ÷ ours': ({ ratioToPeer }) => (ratioToPeer === null ? NONE : showTimes(ratioToPeer)),
	'Memory (ours, its)': (row) => each(megabytes, row.ours, fastest(row)),
	'Longest block (ours, its)': (row) => each(block, row.ours, fastest(row)),
	Goals: goals,
	'By other ways': slower,
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
	const rule = names.map((name) => (/^(In|By|Goals)/.test(name) ? '---' : '--:'));
	const rows = lines.map((row) => line(Object.values(columns).map((show) => show(row))));
	return [[line(names), line(rule), ...rows].join('\n')];
}

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

/** In Markdown, with the notes below. */
export function renderMarkdown(rows: Row[]): string {
	const inN8n = rows.filter(({ place }) => place === 'n8n');
	const inEngine = rows.filter(({ place }) => place === 'engine');
	return [
		...toTable(IN_N8N, inN8n),
		...toTable(IN_ENGINE, inEngine),
		[...new Set(notesOf(rows))].map((note) => `- ${note}`).join('\n'),
	].join('\n\n');
}
