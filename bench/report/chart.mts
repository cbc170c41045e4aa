/** The chart of docs/performance.md: plain SVG, readable in light and dark mode. */
import type { Row } from './row.mts';

const WIDTH = 860;
const LABELS = 250;
const PLOT = WIDTH - LABELS - 90;
const BAR = 15;
const GAP = 12;

const STYLE = `
	text { font: 13px system-ui, sans-serif; fill: #24292f; }
	.title { font-weight: 600; font-size: 15px; }
	.small { font-size: 11px; fill: #57606a; }
	.grid { stroke: #d0d7de; }
	.goal { stroke: #cf222e; stroke-width: 2; stroke-dasharray: 4 3; }
	.ours { fill: #0969da; } .limit { fill: #8c959f; } .peer { fill: #bf8700; }
	@media (prefers-color-scheme: dark) {
		text { fill: #e6edf3; }
		.small { fill: #9198a1; }
		.grid { stroke: #3d444d; }
		.goal { stroke: #ff7b72; }
		.ours { fill: #58a6ff; } .limit { fill: #848d97; } .peer { fill: #d29922; }
	}`;

const escaped = (text: string) =>
	text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!);

const text = (x: number, y: number, content: string, more = '') =>
	`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${escaped(content)}</text>`;

/** A bar with a label to its right, at least at `clear`. */
const bar = (y: number, width: number, kind: string, label: string, clear = 0) =>
	`<rect class="${kind}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2"/>` +
	text(LABELS + Math.max(width, clear) + 6, y + BAR - 3, label);

const line = (x: number, from: number, to: number, kind: string) =>
	`<line class="${kind}" x1="${x.toFixed(1)}" y1="${from}" x2="${x.toFixed(1)}" y2="${to}"/>`;

interface Panel {
	height: number;
	svg: string;
}

const seconds = (value: number) => `${value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2)} s`;

/** Seconds of ours, the peer and the limit, on a logarithmic scale. */
function timePanel(rows: Row[], top: number): Panel {
	const kinds = ['ours', 'limit', 'peer'] as const;
	const values = rows.flatMap((row) => kinds.map((kind) => row[kind] ?? row.ours));
	const low = Math.floor(Math.log10(Math.min(...values)));
	const high = Math.ceil(Math.log10(Math.max(...values)));
	const at = (value: number) => ((Math.log10(value) - low) / (high - low)) * PLOT;
	const first = top + 52;
	const group = kinds.length * (BAR + 2) + GAP;
	const bottom = first + rows.length * group;
	const parts = [
		text(
			0,
			top + 14,
			'Upsert over HTTPS with a round trip of 25 ms (each line is ten times the one before)',
			' class="title"',
		),
		...['the node', 'bare client (limit)', 'HTTP Request, fastest way'].map(
			(name, index) =>
				`<rect class="${kinds[index]}" x="${index * 190}" y="${top + 26}" width="11" height="11" rx="2"/>` +
				text(index * 190 + 17, top + 36, name),
		),
	];
	for (let power = low; power <= high; power += 1) {
		const x = LABELS + at(10 ** power);
		parts.push(line(x, first, bottom, 'grid'));
		parts.push(text(x, bottom + 13, `${10 ** power} s`, ' class="small" text-anchor="middle"'));
	}
	rows.forEach((row, index) => {
		const y = first + index * group + GAP / 2;
		parts.push(text(LABELS - 12, y + group / 2 - 4, row.chart!.times!, ' text-anchor="end"'));
		kinds.forEach((kind, place) => {
			const value = row[kind];
			const label = value === null ? 'failed (see below)' : seconds(value);
			const width = value === null ? 0 : at(value);
			parts.push(bar(y + place * (BAR + 2), width, kind, label));
		});
	});
	return { height: bottom + 26 - top, svg: parts.join('\n') };
}

/** How many times as long as the limit ours takes, with the goal as a mark on each bar. */
function ratioPanel(rows: Row[], top: number): Panel {
	const most = Math.max(2, ...rows.map(({ ratioToLimit }) => ratioToLimit ?? 0));
	const at = (value: number) => (value / most) * PLOT;
	const first = top + 26;
	const step = BAR + GAP;
	const bottom = first + rows.length * step;
	const parts = [
		text(0, top + 14, 'Times as long as the bare client (dashed: the goal)', ' class="title"'),
		line(LABELS + at(1), first, bottom, 'grid'),
		text(LABELS + at(1), bottom + 13, '1 ×', ' class="small" text-anchor="middle"'),
	];
	rows.forEach((row, index) => {
		const y = first + index * step + GAP / 2;
		const { label, goal } = row.chart!.ratio!;
		parts.push(text(LABELS - 12, y + BAR - 3, label, ' text-anchor="end"'));
		parts.push(
			bar(y, at(row.ratioToLimit!), 'ours', `${row.ratioToLimit!.toFixed(2)} ×`, at(goal)),
		);
		parts.push(line(LABELS + at(goal), y - 4, y + BAR + 4, 'goal'));
	});
	return { height: bottom + 26 - top, svg: parts.join('\n') };
}

/** Draws the rows that have a place in the chart. */
export function renderChart(rows: Row[]): string {
	const times = timePanel(
		rows.filter((row) => row.chart?.times),
		24,
	);
	const top = 24 + times.height + 24;
	const ratios = ratioPanel(
		rows.filter((row) => row.chart?.ratio && row.ratioToLimit),
		top,
	);
	const height = top + ratios.height;
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 0 ${WIDTH + 32} ${height}" role="img" aria-label="Times of the node beside a bare client and the HTTP Request node">
<style>${STYLE}
</style>
${times.svg}
${ratios.svg}
</svg>
`;
}
