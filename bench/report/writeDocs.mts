/** Writes all results into bench/RESULTS.md, and the few that users decide by into docs/performance.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { N8N_VERSION } from '../../harness/install.mts';
import { renderPicture } from './picture.mts';
import type { Row } from './row.mts';
import { renderChoice, renderMarkdown } from './table.mts';

const ROOT = join(import.meta.dirname, '..', '..');
const RESULTS = join(ROOT, 'bench', 'RESULTS.md');
const PAGE = join(ROOT, 'docs', 'performance.md');

function machine(place: Row['place'], isQuick: boolean): string {
	const [cpu] = cpus();
	const gib = Math.round(totalmem() / 1024 ** 3);
	const day = new Date().toISOString().slice(0, 10);
	const n8n = place === 'n8n' ? `n8n ${N8N_VERSION}, ` : '';
	return (
		`${day}, ${n8n}Node ${process.versions.node}, ${cpus().length} × ${cpu?.model.trim()}, ` +
		`${gib} GiB, ${process.platform}.` +
		(isQuick ? ' **A quick run of small sizes, once each: only to try the benchmark.**' : '')
	);
}

/** @throws Error if a page has no marks */
async function write(file: string, parts: Record<string, string>) {
	let page = await readFile(file, 'utf8');
	for (const [name, text] of Object.entries(parts)) {
		const marked = new RegExp(`(<!-- ${name}: begin -->)[^]*(<!-- ${name}: end -->)`);
		if (!marked.test(page)) throw new Error(`${file} has no marks for ${name}.`);
		page = page.replace(marked, (_, begin, end) => `${begin}\n\n${text}\n\n${end}`);
	}
	const options = await resolveConfig(file);
	await writeFile(file, await format(page, { ...options, filepath: file }));
}

export async function writeDocs(rows: Row[], { isQuick }: { isQuick: boolean }): Promise<void> {
	const parts: Partial<Record<Row['place'], string>> = {};
	for (const place of ['n8n', 'engine'] as const) {
		const here = rows.filter((row) => row.place === place);
		if (here.length > 0) parts[place] = `${machine(place, isQuick)}\n\n${renderMarkdown(here)}`;
	}
	await write(RESULTS, parts);
	if (parts.n8n === undefined) return;
	const shown = [machine('n8n', isQuick), renderChoice(rows), renderPicture(rows)];
	await write(PAGE, { n8n: shown.join('\n\n') });
}
