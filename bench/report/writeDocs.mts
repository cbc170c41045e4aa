/** Writes the results into docs/performance.md, between its marks, and draws the chart. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { renderChart } from './chart.mts';
import type { Row } from './row.mts';
import { renderMarkdown } from './table.mts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const PAGE = join(DOCS, 'performance.md');
const CHART = join(DOCS, 'images', 'performance.svg');
const IMAGE =
	'![The node beside the bare client and the HTTP Request node](images/performance.svg)';
const MARKED = /(<!-- measured: begin -->)[^]*(<!-- measured: end -->)/;

const machine = () => {
	const [cpu] = cpus();
	const gib = Math.round(totalmem() / 1024 ** 3);
	return `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} × ${cpu?.model.trim()}, ${gib} GiB, ${process.platform}.`;
};

/** @throws Error if the page has no marks */
export async function writeDocs(rows: Row[]): Promise<void> {
	const page = await readFile(PAGE, 'utf8');
	if (!MARKED.test(page)) throw new Error(`${PAGE} has no marks for the table.`);
	const measured = [machine(), IMAGE, renderMarkdown(rows)].join('\n\n');
	const options = await resolveConfig(PAGE);
	const text = await format(
		page.replace(MARKED, (_, begin, end) => `${begin}\n\n${measured}\n\n${end}`),
		{ ...options, filepath: PAGE },
	);
	await writeFile(PAGE, text);
	await writeFile(CHART, renderChart(rows));
}
