/** The rows as tables, for the terminal and for docs/performance.md. */
import type { PeerResult, Row, Spread } from './row.mts';

const HEAD = [
	'Work',
	'Ours',
	'Limit',
	'Ours ÷ limit',
	'Ours ÷ floor',
	'Fastest peer',
	'Peer ÷ ours',
	'Requests (ours, limit, peer)',
	'Sandbox busy (ours, limit)',
	'Memory',
	'Goals',
];

const PEER_HEAD = ['Peer: HTTP Request', 'Time', 'Requests', 'Written'];

const SWEEP_HEAD = ['Sweep: bare client', 'Time'];

const digits = (value: number) => (value >= 10 ? 1 : value >= 0.1 ? 2 : 3);

const seconds = (value: number) => `${value.toFixed(digits(value))} s`;

function time(value: number | null, spread: Spread | null): string {
	if (value === null) return '–';
	if (!spread || spread[0] === spread[1]) return seconds(value);
	return `${seconds(value)} (${spread.map((edge) => edge.toFixed(digits(value))).join('–')})`;
}

const count = (value: number | undefined) => value?.toLocaleString('en') ?? '–';

/** A processor's time as a share of the time that passed. */
const share = (cpu: number | undefined, elapsed: number | null) =>
	cpu === undefined || elapsed === null ? '–' : `${Math.round((100 * cpu) / elapsed)} %`;

const cellsOf = (row: Row): string[] => [
	row.name,
	time(row.ours, row.spread.ours),
	time(row.limit, row.spread.limit),
	row.ratioToLimit?.toFixed(2) ?? '–',
	row.ratioToFloor?.toFixed(2) ?? '–',
	row.peer === null
		? '–'
		: `${time(row.peer, row.spread.peer)}${row.peerName ? `, ${row.peerName}` : ''}`,
	row.ratioToPeer?.toFixed(1) ?? '–',
	row.requests
		? [row.requests.ours, row.requests.limit, row.requests.peer].map(count).join(', ')
		: '–',
	row.cpu
		? [share(row.cpu.sandbox.ours, row.ours), share(row.cpu.sandbox.limit, row.limit)].join(', ')
		: '–',
	row.memoryMB === null ? '–' : `${row.memoryMB} MB`,
	row.goals.map(({ text, isMet }) => `${text} ${isMet ? '✓' : '✗'}`).join('; ') || '–',
];

const peerCellsOf = (row: Row, peer: PeerResult): string[] => [
	`${row.name}, ${peer.name}`,
	time(peer.seconds, peer.spread),
	count(peer.requests),
	count(peer.written),
];

const sweepCellsOf = (row: Row): string[] => [row.name, time(row.ours, row.spread.ours)];

/** What has goals, the peers one by one, and what explores a setting. */
function tablesOf(rows: Row[]): string[][][] {
	const sweeps = rows.filter(({ isSweep }) => isSweep);
	const others = rows.filter(({ isSweep }) => !isSweep);
	return [
		[HEAD, ...others.map(cellsOf)],
		[
			PEER_HEAD,
			...others.flatMap((row) => (row.peers ?? []).map((peer) => peerCellsOf(row, peer))),
		],
		[SWEEP_HEAD, ...sweeps.map(sweepCellsOf)],
	].filter((lines) => lines.length > 1);
}

const notesOf = (rows: Row[]) =>
	rows.flatMap(({ name, note, peers = [] }) => [
		...(note === undefined ? [] : [`- ${name}: ${note}`]),
		...peers
			.filter(({ reason }) => reason !== undefined)
			.map((peer) => `- ${name}, ${peer.name}: requests failed with ${peer.reason}`),
	]);

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

function markdownTable([head = [], ...lines]: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const rule = head.map((_, column) =>
		column === 0 || column === HEAD.length - 1 ? '---' : '--:',
	);
	return [line(head), line(rule), ...lines.map(line)].join('\n');
}

/** The same in Markdown. */
export const renderMarkdown = (rows: Row[]): string =>
	[...tablesOf(rows).map(markdownTable), notesOf(rows).join('\n')].join('\n\n');
