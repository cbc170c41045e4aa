/**
 * Measures the nodes in n8n's engine, beside a bare client and beside n8n's own nodes.
 *
 *   node bench/run.mts [--only NAME] [--json FILE] [--from FILE] [--write] [--smoke] [--profile FOLDER]
 *
 * `--json` saves the rows, `--from` reads them from such a file instead of measuring, `--write` puts
 * table and chart into docs/performance.md. `--smoke` only checks that every benchmark runs: tiny
 * sizes, single runs, without n8n's own nodes. `--profile` writes a CPU profile of every process.
 *
 * The package must be built (`npm run build`). Times of one run on one machine can be compared;
 * those of two machines cannot, only their ratios.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ensureN8n } from '../harness/install.mts';
import { attachments } from './benchmarks/attachments.mts';
import { getMany } from './benchmarks/getMany.mts';

import { idlePoll } from './benchmarks/idlePoll.mts';
import { importRows } from './benchmarks/import.mts';
import { loadTime } from './benchmarks/loadTime.mts';
import { overhead } from './benchmarks/overhead.mts';
import { platformLimits } from './benchmarks/platformLimits.mts';
import { skipUnchanged } from './benchmarks/skipUnchanged.mts';
import { sync } from './benchmarks/sync.mts';
import { sweep } from './benchmarks/sweep.mts';
import { tableNode } from './benchmarks/tableNode.mts';
import { unbatched } from './benchmarks/unbatched.mts';
import { upsert } from './benchmarks/upsert.mts';
import { writeProfilesTo } from './profile.mts';
import type { Benchmark, Row } from './report/row.mts';
import { renderText } from './report/table.mts';
import { writeDocs } from './report/writeDocs.mts';

const benchmarks: Benchmark[] = [
	upsert,
	skipUnchanged,
	sync,
	getMany,
	platformLimits,
	tableNode,
	attachments,
	importRows,
	overhead,
	idlePoll,
	loadTime,
	sweep,
	unbatched,
];

const { values } = parseArgs({
	options: {
		only: { type: 'string' },
		json: { type: 'string' },
		from: { type: 'string' },
		write: { type: 'boolean', default: false },
		smoke: { type: 'boolean', default: false },
		profile: { type: 'string' },
	},
});
const isSmoke = values.smoke;
const chosen = benchmarks.filter(({ name, isExtra }) =>
	values.only === undefined ? !isExtra : name === values.only,
);
if (chosen.length === 0) {
	const names = benchmarks.map(({ name }) => name).join(', ');
	console.error(`There is no benchmark '${values.only}'. There are: ${names}`);
	process.exit(2);
}
if (values.write && (values.only !== undefined || isSmoke)) {
	console.error('--write needs all benchmarks: leave out --only and --smoke.');
	process.exit(2);
}
if (values.profile !== undefined) {
	await mkdir(values.profile, { recursive: true });
	writeProfilesTo(values.profile);
}
const failed: string[] = [];

async function measureAll(): Promise<Row[]> {
	if (!isSmoke) await ensureN8n();
	const rows: Row[] = [];
	for (const { name, run } of chosen) {
		const start = Date.now();
		try {
			rows.push(...(await run({ isSmoke, hasPeer: !isSmoke })));
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
console.log(renderText(rows));
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(rows, null, '\t'));
if (values.write) await writeDocs(rows);
if (isSmoke) console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
