/**
 * Measures the nodes in n8n's engine, beside a bare client that does the same.
 *
 *   node bench/run.mts [--only NAME] [--json FILE]
 *
 * The package must be built (`npm run build`). Times of one run on one machine are comparable;
 * times of two machines are not, the ratios are.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { attachments } from './attachments.mts';
import type { Benchmark, Row } from './row.mts';

const benchmarks: Benchmark[] = [attachments];

const seconds = (value: number | null) => (value === null ? '–' : `${value.toFixed(2)} s`);

function print(rows: Row[]): void {
	const cells = rows.map((row) => [
		row.name,
		`${seconds(row.ours)} (${row.spread.ours.map((value) => value.toFixed(2)).join('–')})`,
		`${seconds(row.limit)} (${row.spread.limit.map((value) => value.toFixed(2)).join('–')})`,
		seconds(row.peer),
		row.ratioToLimit.toFixed(2),
		row.ratioToPeer?.toFixed(1) ?? '–',
		`${row.memoryMB} MB`,
	]);
	const head = ['work', 'ours', 'limit', 'peer', 'ours/limit', 'peer/ours', 'memory'];
	const widths = head.map((title, column) =>
		Math.max(title.length, ...cells.map((line) => line[column]!.length)),
	);
	for (const line of [head, ...cells]) {
		console.log(line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
	}
}

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'string' } } });
const chosen = benchmarks.filter(({ name }) => values.only === undefined || name === values.only);
if (chosen.length === 0) {
	const names = benchmarks.map(({ name }) => name).join(', ');
	console.error(`There is no benchmark '${values.only}'. There are: ${names}`);
	process.exit(2);
}
const rows: Row[] = [];
for (const { run } of chosen) rows.push(...(await run()));
print(rows);
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(rows, null, '\t'));
