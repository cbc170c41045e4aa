/**
 * Examples as n8n's template library asks for them, from the texts in examples/templates/:
 *
 *   node scripts/templates.mts     writes .cache/templates/<name>.json, to import and submit
 *
 * One yellow note with how it works and how to set it up, a white one for each section of nodes, no credential.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const EXAMPLES = join(root, 'examples');
export const TEXTS = join(EXAMPLES, 'templates');

interface Node {
	id: string;
	name: string;
	type: string;
	typeVersion: number;
	position: [x: number, y: number];
	parameters: Record<string, unknown>;
	credentials?: object;
}

interface Workflow {
	name: string;
	nodes: Node[];
	connections: object;
	settings?: object;
}

export interface Template {
	workflow: Workflow;
	/** For the library's form. */
	description: string;
	overview: string;
	sections: Array<{ nodes: string[]; text: string }>;
}

const NOTE = 'n8n-nodes-base.stickyNote';
const WHITE = 7;
/** Around the nodes of a section. */
const MARGIN = { left: 40, top: 140, right: 160, bottom: 140 };
const OVERVIEW_WIDTH = 480;

const partOf = (text: string, heading: string) =>
	text.split(`\n## ${heading}\n`)[1]!.split('\n## ', 1)[0]!.trim();

/** @param name of the example and its text, such as `nightly-import-of-a-file` */
export function templateOf(name: string): Template {
	const text = readFileSync(join(TEXTS, `${name}.md`), 'utf8');
	const { settings, connections, ...example } = JSON.parse(
		readFileSync(join(EXAMPLES, `${name}.json`), 'utf8'),
	) as Workflow;
	const overview = `### How it works\n\n${partOf(text, 'How it works')}\n\n### Setup\n\n${partOf(text, 'How to set up')}`;
	const sections = [...partOf(text, 'Sections').matchAll(/^- ([^:]+): (.*)$/gm)].map(
		([, list = '', says = '']) => {
			return { nodes: list.split(', '), text: says };
		},
	);
	const nodes = example.nodes
		.filter(({ type }) => type !== NOTE)
		.map(({ credentials: _, ...node }) => node);
	const note = (id: string, parameters: object, position: Node['position']) => ({
		...{
			id,
			name: `Note ${id}`,
			type: NOTE,
			typeVersion: 1,
			position,
			parameters: { ...parameters },
		},
	});
	const around = sections.map(({ nodes: names, text: content }, index) => {
		const positions = nodes
			.filter((node) => names.includes(node.name))
			.map(({ position }) => position);
		const [xs, ys] = [positions.map(([x]) => x), positions.map(([, y]) => y)];
		const [left, top] = [Math.min(...xs) - MARGIN.left, Math.min(...ys) - MARGIN.top];
		const size = {
			width: Math.max(...xs) + MARGIN.right - left,
			height: Math.max(...ys) + MARGIN.bottom - top,
		};
		return note(`section-${index + 1}`, { content, color: WHITE, ...size }, [left, top]);
	});
	const left = Math.min(...around.map(({ position: [x] }) => x)) - OVERVIEW_WIDTH - MARGIN.left;
	const top = Math.min(...around.map(({ position: [, y] }) => y));
	const first = note('overview', { content: overview, width: OVERVIEW_WIDTH, height: 620 }, [
		left,
		top,
	]);
	return {
		workflow: {
			name: /^# (.*)$/m.exec(text)![1]!,
			nodes: [first, ...around, ...nodes],
			connections,
			...(settings && { settings }),
		},
		description: text.split('\n## Sections\n')[0]!,
		...{ overview, sections },
	};
}

export const templateNames = () => readdirSync(TEXTS).map((file) => file.replace('.md', ''));

if (import.meta.filename === process.argv[1]) {
	const folder = join(root, '.cache', 'templates');
	mkdirSync(folder, { recursive: true });
	for (const name of templateNames()) {
		writeFileSync(
			join(folder, `${name}.json`),
			JSON.stringify(templateOf(name).workflow, null, '\t'),
		);
		console.log(join(folder, `${name}.json`));
	}
}
