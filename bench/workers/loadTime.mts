/** Loads the package, or a node of n8n's own, as n8n does when it starts; prints its measurement. */
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { N8N_FOLDER } from '../../harness/install.mts';
import { ROOT } from '../../harness/nodePackage.mts';
import { measure } from '../measure.mts';
import manifest from '../../package.json' with { type: 'json' };

process.env.N8N_USER_FOLDER = await mkdtemp(join(tmpdir(), 'bench-load-'));
process.env.N8N_LOG_LEVEL = 'silent';

/** n8n-core as a package in this folder sees it. n8n has loaded it before any package. */
function requireCore(folder: string): typeof import('n8n-core') {
	return createRequire(join(folder, 'package.json'))('n8n-core') as typeof import('n8n-core');
}

function ours() {
	const { PackageDirectoryLoader } = requireCore(ROOT);
	return async () => {
		const loader = new PackageDirectoryLoader(ROOT);
		await loader.loadAll();
		const { n8n } = manifest;
		if (Object.keys(loader.nodeTypes).length !== n8n.nodes.length)
			throw new Error('Not every node of the package was loaded.');
	};
}

function peer() {
	const { PackageDirectoryLoader } = requireCore(N8N_FOLDER);
	const fromN8n = createRequire(join(N8N_FOLDER, 'package.json'));
	const folder = dirname(fromN8n.resolve('n8n-nodes-base/package.json'));
	return async () => {
		const loader = new PackageDirectoryLoader(folder);
		loader.loadNodeFromFile('dist/nodes/Airtable/Airtable.node.js');
		if (Object.keys(loader.nodeTypes).length !== 1) throw new Error('One node should be loaded.');
	};
}

console.log(JSON.stringify(await measure(process.argv[2] === 'ours' ? ours() : peer())));
await rm(process.env.N8N_USER_FOLDER, { recursive: true, force: true });
process.exit(0);
