/** Writes the results into docs/performance.md, between its marks. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { N8N_VERSION } from '../../harness/install.mts';
import { renderPicture } from './picture.mts';
import type { Row } from './row.mts';
import { renderMarkdown } from './table.mts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'performance.md');

/** Each place has its part of the page. */
const PLACES: Array<Row['place']> = ['n8n', 'engine'];

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

/** @throws Error if the page has no marks */
export async function writeDocs(rows: Row[], { isQuick }: { isQuick: boolean }): Promise<void> {
	let page = await readFile(PAGE, 'utf8');
	for (const place of PLACES) {
		const here = rows.filter((row) => row.place === place);
		if (here.length === 0) continue;
		const marked = new RegExp(`(<!-- ${place}: begin -->)[^]*(<!-- ${place}: end -->)`);
		if (!marked.test(page)) throw new Error(`${PAGE} has no marks for ${place}.`);
		const picture = place === 'n8n' ? [renderPicture(here)] : [];
		const measured = [machine(place, isQuick), ...picture, renderMarkdown(here)].join('\n\n');
		page = page.replace(marked, (_, begin, end) => `${begin}\n\n${measured}\n\n${end}`);
	}
	const options = await resolveConfig(PAGE);
	await writeFile(PAGE, await format(page, { ...options, filepath: PAGE }));
}
