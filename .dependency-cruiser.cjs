/**
 * Import boundaries: `npm test -- boundaries` checks them, `npm run structure` draws them.
 * The layers of the node, highest first: each may import what stands below it.
 */
const LAYERS = [
	'(actions|trigger|methods)',
	'parameters',
	'execution',
	'(bulk|changes|files|rows)',
	'fields',
	'api',
	'transport',
];

const NODE = '^nodes/DataPlatform';

const layerRules = LAYERS.slice(1).map((layer, index) => ({
	name: `no-arrow-back-from-${layer.replace(/[()]/g, '').replaceAll('|', '-')}`,
	comment: 'A layer imports only what stands below it (docs/architecture.md).',
	severity: 'error',
	from: { path: `${NODE}/${layer}/` },
	to: { path: LAYERS.slice(0, index + 1).map((above) => `${NODE}/${above}/`) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		...layerRules,
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
			to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
