/**
 * Runs the main job in n8n's engine, before n8n itself is installed: the example's last node writes
 * the airports. Prints the result as a line of JSON. Runs in its own process, because n8n's engine
 * takes much memory and `npm start` keeps running.
 *
 *   node harness/engine/writeAirports.mts --base-url URL --token TOKEN
 */

import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import '../compileCommonJs.mts';
import { readAirportsCsv } from '../demoServices.mts';
import { MAIN_EXAMPLE, readExample, WRITE_NODE } from '../examples.mts';
import { makeUserFolder } from '../n8nProcess.mts';
import { summarizeNodeRun } from '../runSummary.mts';
import type { INodeParameters } from 'n8n-workflow';
import type { NodeRun } from '../n8nApi.mts';
import type * as Engine from './engine.cts';

process.env.N8N_USER_FOLDER = await makeUserFolder();
const { ITEMS_TYPE, runWorkflow } = createRequire(import.meta.url)('./engine.cts') as typeof Engine;

/** The rows of a CSV file without line breaks in its values. */
function parseCsv(text: string): Array<Record<string, string>> {
	const [header = [], ...rows] = text
		.trim()
		.split(/\r?\n/)
		.map((line) =>
			[...line.matchAll(/(?<=^|,)(?:"((?:[^"]|"")*)"|([^,]*))(?=,|$)/g)].map(
				([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
			),
		);
	return rows.map((cells) =>
		Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])),
	);
}

const { values } = parseArgs({
	options: { 'base-url': { type: 'string' }, token: { type: 'string' } },
});
const { nodes } = await readExample(MAIN_EXAMPLE);
const { parameters } = nodes.find(({ name }) => name === WRITE_NODE)!;
const airports = parseCsv(await readAirportsCsv());
const { run, error } = await runWorkflow(
	{
		nodes: [
			{ name: 'Airports', type: ITEMS_TYPE },
			{
				name: WRITE_NODE,
				type: 'n8n-nodes-data-platform.dataPlatform',
				parameters: parameters as INodeParameters,
			},
		],
		connections: { Airports: { main: [[{ node: WRITE_NODE, type: 'main', index: 0 }]] } },
	},
	airports.map((json) => ({ json })),
	{ baseUrl: values['base-url'] ?? '', token: values.token ?? '', accessType: 'role' },
);
if (error) throw new Error([error.message, error.description].filter(Boolean).join(': '));
const [nodeRun] = run.data.resultData.runData[WRITE_NODE] ?? [];
process.stdout.write(`${JSON.stringify(summarizeNodeRun(nodeRun as NodeRun | undefined))}\n`);
// The node keeps its connections open for later requests.
process.exit(0);
