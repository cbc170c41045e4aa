/**
 * Import boundaries: `npm test -- boundaries` checks them, `npm run structure` draws them.
 * The layers of the node, highest first: each may import what stands below it.
 */
const LAYERS = [
	'(actions|trigger|methods)/',
	'parameters/',
	'import/',
	'input/',
	'run/',
	'parameterKinds/',
	'(bulk|changes|files|rows)/',
	'fields/',
	'api/',
	'transport/',
	'labels.ts',
];

/** The rooms of `bulk/`, highest first. */
const ROOMS = [
	'remove/',
	'pipeline',
	'match/',
	'links/',
	'send/',
	'resolve/',
	'plan/',
	'(entry|outcome)',
	'terms',
];

/**
 * The files of each engine that others may import: at most three, and those of `bulk/remove/`. Each
 * begins with what the folder does, and an example. Where there are more, the others are types only.
 */
const ENTRIES = {
	bulk: ['pipeline', 'outcome', 'links/linkResolver', 'remove/(sync|deleteMatching)', 'terms'],
	changes: ['tracker', 'reader', 'cursor'],
	files: ['transfer', 'uploadValidation'],
	rows: ['readRows', 'exportRows', 'rejectedRows'],
	import: ['rowImport', 'rowValues'],
	trigger: ['parameters', 'poll', 'receive'],
};

const NODE = '^nodes/DataPlatform';

/** Forbids imports from each part to those above it. */
const onlyDown = (folder, parts, name) =>
	parts.slice(1).map((part, index) => ({
		name: `${name}-${part.replace(/[()/]/g, '').replaceAll('|', '-')}`,
		comment: 'Imports only go down, those of types included (docs/development/architecture.md).',
		severity: 'error',
		from: { path: `${folder}/${part}` },
		to: { path: parts.slice(0, index + 1).map((above) => `${folder}/${above}`) },
	}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		...onlyDown(NODE, LAYERS, 'no-arrow-back-from'),
		...onlyDown(`${NODE}/bulk`, ROOMS, 'no-arrow-back-in-bulk-from'),
		...Object.entries(ENTRIES).map(([engine, files]) => ({
			name: `only-entries-of-${engine}`,
			comment: 'Other folders import only the files of this one that ENTRIES lists.',
			severity: 'error',
			from: { path: `${NODE}/`, pathNot: `${NODE}/${engine}/` },
			to: {
				path: `${NODE}/${engine}/`,
				pathNot: files.map((file) => `${NODE}/${engine}/${file}\\.ts$`),
			},
		})),
		{
			name: 'entries-apart',
			comment: 'The node, the trigger and the editor lists do not know each other.',
			severity: 'error',
			from: { path: `${NODE}/(actions|trigger|methods)/` },
			to: { path: `${NODE}/(actions|trigger|methods)/`, pathNot: `${NODE}/$1/` },
		},
		{
			name: 'no-cycles',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { circular: true },
		},
		{
			name: 'sandbox-apart',
			comment: 'The sandbox and the nodes share no code: both answer to contract/openapi.yaml.',
			severity: 'error',
			from: { path: '^sandbox/' },
			to: { path: '^(nodes|credentials)/' },
		},
		{
			name: 'nodes-apart',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { path: '^(sandbox|harness|test|bench|scripts)/' },
		},
		{
			name: 'harness-apart',
			comment:
				'The harness runs n8n, the built package and the sandbox from outside, for whoever needs them.',
			severity: 'error',
			from: { path: '^harness/' },
			to: { path: '^(nodes|credentials|sandbox|test|bench)/' },
		},
		{
			name: 'sandbox-stands-alone',
			severity: 'error',
			from: { path: '^sandbox/' },
			to: { path: '^(harness|test|bench|scripts)/' },
		},
		{
			name: 'only-n8n-at-run-time',
			comment: 'The published package has no dependencies: only what n8n itself provides.',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: {
				dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'],
				dependencyTypesNot: ['type-only'],
				pathNot: 'n8n-workflow',
			},
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
		reporterOptions: { mermaid: { minify: false } },
	},
};
