/** The package as it is built: its manifest, its nodes, and their parameters. */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { INodeProperties, INodePropertyCollection, INodeType } from 'n8n-workflow';

export const root = resolve(__dirname, '../..');

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
	name: string;
	license: string;
	repository: object;
	bugs: { url: string };
	files: string[];
	keywords: string[];
	dependencies?: object;
	bundledDependencies?: object;
	optionalDependencies?: object;
	peerDependencies: Record<string, string>;
	scripts: Record<string, string>;
	n8n: { n8nNodesApiVersion: number; strict: boolean; nodes: string[]; credentials: string[] };
};

/** n8n expects a class with the name of the file. */
export function load<Type>(path: string): Type {
	const name = basename(path).replace(/\.(node|credentials)\.js$/, '');
	const exported = require(join(root, path)) as Record<string, new () => Type>;
	const Loaded = exported[name];
	if (!Loaded) throw new Error(`${path} exports no class ${name}`);
	return new Loaded();
}

/** Each node with its path in the package. */
export const nodes = manifest.n8n.nodes.map((path) => [path, load<INodeType>(path)] as const);

/** Every parameter, including those inside collections, with its siblings. */
export function* parameters(properties: INodeProperties[]): Generator<{ property: INodeProperties; siblings: INodeProperties[] }> {
	for (const property of properties) {
		yield { property, siblings: properties };
		const options = property.options ?? [];
		if (property.type === 'collection') yield* parameters(options as INodeProperties[]);
		if (property.type !== 'fixedCollection') continue;
		for (const { values } of options as INodePropertyCollection[]) yield* parameters(values);
	}
}
