/** The built package: its manifest, what its nodes describe to n8n, and what its code uses. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isBuiltin } from 'node:module';
import type { ICredentialType, INodePropertyOptions, Icon } from 'n8n-workflow';
import { load, manifest, nodes, parameters, root } from './builtNodes.cts';

const { nodes: nodePaths, credentials: credentialPaths } = manifest.n8n;

const credentials = credentialPaths.map((path) => [path, load<ICredentialType>(path)] as const);

const iconFiles = (icon: Icon | undefined) => {
	if (icon === undefined) return [];
	const { light, dark } = typeof icon === 'string' ? { light: icon, dark: icon } : icon;
	return [light, dark].map((file) => file.replace(/^file:/, ''));
};

describe('the manifest', () => {
	test('names the package as n8n finds it, and needs nothing at run time', () => {
		expect(manifest.name).toMatch(/^n8n-nodes-/);
		expect(manifest.keywords).toContain('n8n-community-node-package');
		expect(manifest.files).toEqual(['dist']);
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
		const { dependencies = {}, bundledDependencies = {}, optionalDependencies = {} } = manifest;
		expect({ ...dependencies, ...bundledDependencies, ...optionalDependencies }).toEqual({});
	});

	test('says where to report problems', () => {
		expect(manifest.bugs.url).toBe('https://github.com/n8n-nodes-data-platform/n8n-nodes-data-platform/issues');
	});

	test('runs nothing when it is installed', () => {
		const scripts = Object.keys(manifest.scripts);
		expect(scripts.filter((name) => ['preinstall', 'install', 'postinstall', 'prepare'].includes(name))).toEqual([]);
	});

	test('is strict, and lists only what is in dist', () => {
		expect(manifest.n8n).toMatchObject({ n8nNodesApiVersion: 1, strict: true });
		const isBuilt = (path: string) => path.startsWith('dist/') && existsSync(join(root, path));
		expect([...nodePaths, ...credentialPaths].filter((path) => !isBuilt(path))).toEqual([]);
		expect([nodePaths.length, credentialPaths.length]).toEqual([3, 1]);
	});
});

test.each(credentials)('%s is a credential with icons', (path, credential) => {
	expect(credential.name).toMatch(/Api$/);
	expect(credential.properties.find(({ name }) => name === 'token')?.typeOptions?.password).toBe(true);
	expect(typeof credential.authenticate).toBe('function');
	const icons = iconFiles(credential.icon);
	expect(icons).toHaveLength(2);
	for (const icon of icons) expect(existsSync(join(root, dirname(path), icon))).toBe(true);
});

describe.each(nodes)('%s', (path, { description, methods }) => {
	const all = [...parameters(description.properties)];
	const rootNames = new Set(description.properties.map(({ name }) => name));

	test("is named as its file, has this package's credential, and tests it", () => {
		const file = basename(path).replace('.node.js', '');
		expect(description.name).toBe(file[0]!.toLowerCase() + file.slice(1));
		expect(description.credentials).toMatchObject([{ name: 'dataPlatformApi' }]);
		const { testedBy } = description.credentials![0]!;
		expect(typeof methods!.credentialTest![String(testedBy)]).toBe('function');
	});

	test('has its icons and its codex in dist', () => {
		const icons = iconFiles(description.icon as Icon);
		expect(icons).toHaveLength(2);
		for (const icon of icons) expect(existsSync(join(root, dirname(path), icon))).toBe(true);
		const codex = JSON.parse(readFileSync(join(root, path.replace(/\.js$/, '.json')), 'utf8')) as { node: string; categories: string[] };
		expect(codex.node).toContain(manifest.name);
		expect(codex.categories.length).toBeGreaterThan(0);
	});

	test('has notices without tags, which the editor drops together with line breaks', () => {
		const notices = all.filter(({ property }) => property.type === 'notice');
		const texts = notices.map(({ property }) => property.displayName);
		expect(texts.filter((text) => /<(?!a |\/a>)/.test(text))).toEqual([]);
	});

	test('every operation has an action', () => {
		const lists = description.properties.filter(({ name }) => name === 'operation');
		const resources = description.properties.find(({ name }) => name === 'resource');
		expect(lists).toHaveLength((resources?.options ?? []).length);
		for (const { options = [] } of lists) {
			for (const entry of options) {
				const [value, action] = [/^[a-z][A-Za-z]+$/, /^[A-Z]/].map((format) => expect.stringMatching(format) as string);
				expect(entry).toMatchObject({ value, action, name: expect.any(String), description: expect.any(String) });
			}
		}
	});

	test('every parameter that another one depends on exists', () => {
		const missing = all.flatMap(({ property, siblings }) => {
			const { show = {}, hide = {} } = property.displayOptions ?? {};
			const names = Object.keys({ ...show, ...hide }).filter((name) => !name.startsWith('@'));
			const isMissing = (name: string) =>
				name.startsWith('/') ? !rootNames.has(name.slice(1)) : siblings.every((sibling) => sibling.name !== name);
			return names.filter(isMissing).map((name) => `${property.name}: ${name}`);
		});
		expect(missing).toEqual([]);
	});

	test('every value that a parameter is shown for can be chosen', () => {
		const missing = all.flatMap(({ property, siblings }) =>
			Object.entries(property.displayOptions?.show ?? {}).flatMap(([name, values = []]) => {
				const owners = (name.startsWith('/') ? description.properties : siblings).filter(
					(entry) => entry.name === name.replace(/^\//, '') && entry.type === 'options',
				);
				// A list that the node loads already shows only fitting choices.
				const isLoaded = owners.some(({ typeOptions }) => typeOptions?.loadOptionsMethod);
				if (owners.length === 0 || isLoaded) return [];
				const choices = new Set<unknown>(
					owners.flatMap(({ options = [] }) => (options as INodePropertyOptions[]).map(({ value }) => value)),
				);
				return values.filter((value) => !choices.has(value)).map((value) => `${property.name}: ${name} ${String(value)}`);
			}),
		);
		expect(missing).toEqual([]);
	});

	test('every method that a list asks for exists', () => {
		for (const { property } of all) {
			const { loadOptionsMethod, resourceMapper } = property.typeOptions ?? {};
			if (loadOptionsMethod) expect(methods?.loadOptions).toHaveProperty(loadOptionsMethod);
			if (resourceMapper?.resourceMapperMethod) {
				expect(methods?.resourceMapping).toHaveProperty(resourceMapper.resourceMapperMethod);
			}
			for (const mode of property.modes ?? []) {
				const search = mode.typeOptions?.searchListMethod;
				if (search) expect(methods?.listSearch).toHaveProperty(search);
			}
		}
	});

	test('every option has a default that can be chosen', () => {
		const wrong = all.filter(({ property }) => {
			const options = (property.options ?? []) as INodePropertyOptions[];
			const isFixed = options.length > 0 && !property.typeOptions?.loadOptionsMethod;
			const isChoice = options.some(({ value }) => value === property.default);
			return property.type === 'options' && isFixed && !isChoice;
		});
		expect(wrong.map(({ property }) => property.name)).toEqual([]);
	});
});

/** How an operation's description begins. n8n's assistant runs what reads, and simulates what writes. */
const FIRST_WORD = {
	reads: /^(Read|Retrieve|Download) /,
	writes: /^(Create|Update|Delete|Permanently (delete|remove)|Start|Upload|Write) /,
};
const READING = ['count', 'download', 'exportToFile', 'get', 'getAll', 'getChanges', 'summarize'];

test('descriptions say first whether they read or write, and the tool starts nothing', () => {
	const { description } = nodes.find(([, node]) => node.description.name === 'dataPlatform')![1];
	const operations = description.properties
		.filter(({ name }) => name === 'operation')
		.flatMap(({ options }) => options as INodePropertyOptions[]);
	expect(operations.length).toBeGreaterThan(20);
	const wrong = operations.filter(({ value, description: text = '' }) => {
		const first = READING.includes(String(value)) ? FIRST_WORD.reads : FIRST_WORD.writes;
		return !first.test(text) || text.length > 800;
	});
	expect(wrong.map(({ description: text }) => text)).toEqual([]);
	expect(description.usableAsTool).toMatchObject({
		replacements: { description: expect.stringMatching(/^Read or write (?!.*start when)/) as string },
	});
});

describe('the descriptions of outputs', () => {
	const { description } = nodes.find(([, node]) => node.description.name === 'dataPlatform')![1];
	const folder = join(root, 'dist/nodes/DataPlatform/__schema__/v1.0.0');

	test('every operation has one, and nothing else has', () => {
		const described = readdirSync(folder, { recursive: true, encoding: 'utf8' })
			// Those of nodes without operations, the triggers, are in no folder.
			.filter((file) => /[\\/].*\.json$/.test(file))
			.map((file) => file.replace('\\', '/').replace('.json', ''));
		const operations = description.properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options, displayOptions }) =>
				(options as INodePropertyOptions[]).map(({ value }) => `${String(displayOptions?.show?.resource?.[0])}/${String(value)}`),
			);
		// The output of a download is the item's own data.
		expect([...described, 'attachment/download'].toSorted()).toEqual(operations.toSorted());
	});

	test('one record or many have the same output after every write', () => {
		const shapes = ['create', 'sync', 'update', 'upsert'].map((name) => readFileSync(join(folder, `record/${name}.json`), 'utf8'));
		expect(new Set(shapes).size).toBe(1);
	});
});

test.each(['batch', 'bulk', 'many', 'upsert', 'sync'])("'%s' finds the node", (word) => {
	const codex = join(root, 'dist/nodes/DataPlatform/DataPlatform.node.json');
	const { alias } = JSON.parse(readFileSync(codex, 'utf8')) as { alias: string[] };
	expect(alias.some((name) => name.split(' ').includes(word))).toBe(true);
});

describe('the built code', () => {
	/** The files that the entries in package.json load, directly or indirectly. */
	function reach(file: string, seen = new Map<string, string[]>()) {
		if (seen.has(file)) return seen;
		const code = readFileSync(file, 'utf8');
		const named = [...code.matchAll(/\b(?:require|import)\(\s*['"]([^'"]+)['"]\s*\)/g)];
		const imports = named.map((match) => match[1]!);
		seen.set(file, imports);
		for (const name of imports.filter((entry) => entry.startsWith('.'))) {
			reach(require.resolve(resolve(dirname(file), name)), seen);
		}
		return seen;
	}

	const reached = new Map<string, string[]>();
	for (const path of [...nodePaths, ...credentialPaths]) reach(join(root, path), reached);

	test('imports n8n-workflow, node:crypto and its own files, nothing else', () => {
		const foreign = [...reached.values()].flat().filter((name) => !name.startsWith('.'));
		expect(new Set(foreign)).toEqual(new Set(['n8n-workflow', 'node:crypto']));
		expect(foreign.filter(isBuiltin).every((name) => name === 'node:crypto')).toBe(true);
		for (const file of reached.keys()) {
			expect(relative(join(root, 'dist'), file)).not.toMatch(/^\.\./);
		}
	});

	test('uses no process, timer, console or dynamic import', () => {
		for (const file of reached.keys()) {
			const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
			expect(code).not.toMatch(/\b(process\.|setTimeout|setInterval|console\.|eval\(|import\()/);
		}
	});
});
