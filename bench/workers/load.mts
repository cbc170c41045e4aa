/** Loads a package, or one node of n8n's own, as n8n does at its start; prints what it took. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { N8N_FOLDER } from '../../n8n/install.mts';
import { ROOT } from '../../n8n/launch.mts';
import { measured } from '../memory.mts';

const load = createRequire(import.meta.url);
const { PackageDirectoryLoader } = load('n8n-core') as typeof import('n8n-core');

async function ours(): Promise<void> {
	const loader = new PackageDirectoryLoader(ROOT);
	await loader.loadAll();
	if (Object.keys(loader.nodeTypes).length !== 2) throw new Error('There should be two nodes');
}

async function peer(): Promise<void> {
	const fromN8n = createRequire(join(N8N_FOLDER, 'package.json'));
	const folder = dirname(fromN8n.resolve('n8n-nodes-base/package.json'));
	const loader = new PackageDirectoryLoader(folder);
	loader.loadNodeFromFile('dist/nodes/Airtable/Airtable.node.js');
	if (Object.keys(loader.nodeTypes).length !== 1) throw new Error('There should be one node');
}

console.log(JSON.stringify(await measured(process.argv[2] === 'ours' ? ours : peer)));
process.exit(0);
