/**
 * Measures the nodes in real n8n beside workflows of n8n's own nodes, and in n8n's bare engine beside
 * a bare client.
 *
 *   node bench/run.mts [--only NAME [--work TEXT]] [--quick] [--json FILE] [--from FILE] [--write]
 *                      [--smoke [--draw NUMBER]] [--profile FOLDER]
 *
 * `--work` chooses among the work of `n8n` by a part of its title. `--json` saves the rows, `--from`
 * reads them from such a file instead of measuring, `--write` puts them into docs/performance.md.
 * `--quick` takes smaller sizes, once each, to try a change. `--smoke` only checks that every benchmark
 * runs, or one of them that a number draws; `n8n` needs n8n itself, so it runs only by name then.
 * `--profile` writes CPU profiles.
 *
 * The package must be built (`npm run build`). Times of one run on one machine can be compared;
 * those of two machines cannot, only their ratios.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { attachments } from './benchmarks/attachments.mts';
import { importRows } from './benchmarks/import.mts';
import { n8n } from './benchmarks/n8n.mts';
import { overhead } from './benchmarks/overhead.mts';
import { platformLimits } from './benchmarks/platformLimits.mts';
import { reading } from './benchmarks/reading.mts';
import { sync } from './benchmarks/sync.mts';
import { upsert } from './benchmarks/upsert.mts';
import { writeProfilesTo } from './profile.mts';
import type { Benchmark, Row, Scale } from './report/row.mts';
import { renderMarkdown } from './report/table.mts';
import { writeDocs } from './report/writeDocs.mts';

const benchmarks: Benchmark[] = [
	n8n,
	upsert,
	reading,
	sync,
	platformLimits,
	attachments,
	importRows,
	overhead,
];

const { values } = parseArgs({
	options: {
		only: { type: 'string' },
		work: { type: 'string' },
		json: { type: 'string' },
		from: { type: 'string' },
		write: { type: 'boolean', default: false },
		quick: { type: 'boolean', default: false },
		smoke: { type: 'boolean', default: false },
		draw: { type: 'string' },
		profile: { type: 'string' },
	},
});
const scale: Scale = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
const chosen = benchmarks.filter((benchmark, index) => {
	if (values.only !== undefined) return benchmark.name === values.only;
	if (values.smoke && benchmark === n8n) return false;
	return values.draw === undefined || index === 1 + (Number(values.draw) % (benchmarks.length - 1));
});
if (chosen.length === 0) {
	const names = benchmarks.map(({ name }) => name).join(', ');
	console.error(`There is no benchmark '${values.only}'. There are: ${names}`);
	process.exit(2);
}
// The page has a part for n8n, and one for all the others.
const isPart = values.work !== undefined || ![undefined, n8n.name].includes(values.only);
if (values.write && (values.smoke || isPart)) {
	console.error(`--write needs all benchmarks or all of --only ${n8n.name}, without --smoke.`);
	process.exit(2);
}
if (values.profile !== undefined) {
	await mkdir(values.profile, { recursive: true });
	writeProfilesTo(values.profile);
}
const failed: string[] = [];

async function measureAll(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const { name, run } of chosen) {
		const start = Date.now();
		try {
			const measured = await run({ scale, work: values.work, isSmoke: scale !== 'full' });
			rows.push(...measured);
			if (measured.some(({ ours }) => ours.failure !== undefined)) failed.push(name);
		} catch (error) {
			// The results of the others are still useful.
			failed.push(name);
			console.error(`${name} failed:`, error);
		}
		console.error(`${name}: ${Math.round((Date.now() - start) / 1000)} s`);
	}
	return rows;
}

const rows = values.from
	? (JSON.parse(await readFile(values.from, 'utf8')) as Row[])
	: await measureAll();
console.log(await format(renderMarkdown(rows), { parser: 'markdown' }));
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(rows, null, '\t'));
if (values.write) await writeDocs(rows, { isQuick: values.quick });
if (values.smoke) console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
