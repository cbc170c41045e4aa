/**
 * docs/operations.md, the reference of all operations, from the descriptions of the built nodes:
 *
 *   node scripts/operationsPage.mts
 *
 * A parameter that several operations have in the same way is described once.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

const root = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
export const PAGE = join(root, 'docs/operations.md');
const OUTPUTS = join(import.meta.dirname, 'exampleOutputs.json');

/** A parameter or an option of an operation. */
interface Row {
	label: string;
	/** The list that it is an entry of. */
	list?: string;
	/** Its group under _Add Option_, if it is in one. */
	group?: INodeProperties;
	/** Whether it only appears with a choice of another parameter. */
	isDependent?: boolean;
	/** What the table says about it. */
	cells: string;
}

interface Section {
	/** The resource; a trigger's own name. */
	heading: string;
	name: string;
	description: string;
	parameters: Row[];
	options: Row[];
	/** Its key in exampleOutputs.json. */
	key: string;
}

const TYPES: Partial<Record<INodeProperties['type'], string>> = {
	collection: 'options',
	dateTime: 'date',
	fixedCollection: 'list',
	json: 'JSON',
	multiOptions: 'several',
	options: 'choice',
	resourceLocator: 'list, ID, URL',
	resourceMapper: 'mapping',
	string: 'text',
};

/** What every such parameter says, and this page says once. */
const SAID_ONCE = [
	/ ?Choose from the list, or specify (?:an ID|IDs) using an <a [^>]*>expression<\/a>\.?/,
	/^Whether to /,
];

/** Of parameters whose description in the editor says how to choose, at most. */
const WITHOUT_TEXT: Partial<Record<INodeProperties['type'], string>> = {
	boolean: 'On or off.',
	resourceMapper: 'The value of each field, or automatic: each item’s data by the name.',
};

/** The editor lists it together with the node, which has the description of both. */
const TRIGGER =
	'Starts the workflow when records are created, updated or deleted, by asking for changes.';

/** Entries of conditions, the same in groups. */
const INSIDE_GROUPS = new Set(['groups']);

/** Of a line of JSON. */
const WIDTH = 96;

const sentence = (text: string) =>
	text && `${text[0]!.toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function textOf({ description = '', type }: INodeProperties): string {
	const text = SAID_ONCE.reduce((left, said) => left.replace(said, ''), description);
	return sentence(text.trim()) || (WITHOUT_TEXT[type] ?? '');
}

/** Its choices, the default one in bold. They say what they do if the parameter does not. */
function choicesOf({ type, description, options = [], default: preset }: INodeProperties): string {
	if (type !== 'options') return '';
	return (options as INodePropertyOptions[])
		.map((choice) => {
			const name = choice.value === preset ? `**${choice.name}**` : choice.name;
			if (description || !choice.description) return name;
			return `${name}: ${choice.description.replace(/\.$/, '')}`;
		})
		.join(' · ');
}

function typeOf({ type, default: preset }: INodeProperties): string {
	if (type === 'boolean') return preset ? '**on**' : 'off';
	const name = TYPES[type] ?? type;
	const isShown = ['number', 'string'].includes(type) && preset !== '';
	return isShown ? `${name}, **${String(preset)}**` : name;
}

function rowOf(property: INodeProperties, label: string, group?: INodeProperties): Row {
	const text = [textOf(property), choicesOf(property)].filter(Boolean).join(' ');
	return { label, group, cells: [typeOf(property), text].map(cell).join(' | ') };
}

/** A list, and those of its entries that need more than their name. */
function entriesOf(property: INodeProperties): Row[] {
	const { displayName, name, options = [] } = property;
	const entries = (options as INodePropertyCollection[]).flatMap(({ values }) => values);
	const isPlain = (entry: INodeProperties) => textOf(entry) + choicesOf(entry) === '';
	const plain = entries.filter(isPlain).map((entry) => `_${entry.displayName}_`);
	const list = rowOf(property, displayName);
	if (INSIDE_GROUPS.has(name)) return [list];
	return [
		{ ...list, cells: [list.cells.trimEnd(), plain.join(', ')].filter(Boolean).join(' ') },
		...entries
			.filter((entry) => !isPlain(entry))
			.map((entry) => ({ ...rowOf(entry, `→ ${entry.displayName}`), list: displayName })),
	];
}

/** What decides about the operation itself. */
const SELECTORS = new Set(['resource', 'operation']);

function parametersOf(property: INodeProperties): Row[] {
	if (['collection', 'notice'].includes(property.type)) return [];
	const isList = property.type === 'fixedCollection';
	const rows = isList ? entriesOf(property) : [rowOf(property, property.displayName)];
	const shown = Object.keys(property.displayOptions?.show ?? {});
	const isDependent = shown.some((name) => !SELECTORS.has(name));
	return rows.map((row) => ({ ...row, isDependent }));
}

/** What holds for each parameter that is not set. The editor's entry says what holds once it is added. */
type Presets = ReadonlyMap<string, { property: INodeProperties }>;

/** The options of a collection. A group has one entry, called settings. */
function optionsOf({ type, options = [] }: INodeProperties, presets?: Presets): Row[] {
	if (type !== 'collection') return [];
	return (options as INodeProperties[]).flatMap((option) => {
		const unset = presets?.get(option.name)?.property ?? option;
		if (option.type !== 'fixedCollection') return [rowOf(unset, option.displayName)];
		const [group] = option.options as INodePropertyCollection[];
		if (group?.name !== 'settings') return entriesOf(option);
		return group.values.map((value) => rowOf(value, value.displayName, option));
	});
}

const { findOperation } = require(join(root, 'dist/nodes/DataPlatform/actions/index.js')) as {
	findOperation(resource: string, operation: string): { shown: Presets };
};

function nodeDescription(name: string) {
	const Node = (
		require(join(root, `dist/nodes/DataPlatform/${name}.node.js`)) as Record<
			string,
			new () => INodeType
		>
	)[name]!;
	return new Node().description;
}

function sectionOf(
	about: Pick<Section, 'heading' | 'name' | 'description' | 'key'>,
	properties: INodeProperties[],
	presets?: Presets,
): Section {
	return {
		...about,
		parameters: properties.flatMap(parametersOf),
		options: properties.flatMap((property) => optionsOf(property, presets)),
	};
}

/** One section for each operation and each trigger. */
function sections(): Section[] {
	const { properties } = nodeDescription('DataPlatform');
	const resources = properties.find(({ name }) => name === 'resource')!.options!;
	const operations = (resources as INodePropertyOptions[]).flatMap((resource) => {
		const shows = ({ displayOptions }: INodeProperties) =>
			displayOptions?.show?.resource?.includes(resource.value as string);
		const list = properties.find((property) => property.name === 'operation' && shows(property))!;
		return (list.options as INodePropertyOptions[]).map((operation) => {
			const own = properties.filter(
				(property) =>
					shows(property) &&
					property.displayOptions?.show?.operation?.includes(operation.value as string),
			);
			const { name, description = '', value } = operation;
			const key = `${String(resource.value)}.${String(value)}`;
			const { shown } = findOperation(resource.value as string, value as string);
			return sectionOf({ heading: resource.name, name, description, key }, own, shown);
		});
	});
	const triggers = ['DataPlatformTrigger', 'DataPlatformWebhookTrigger'].map((type) => {
		const { displayName, description, properties: own } = nodeDescription(type);
		const text = type === 'DataPlatformTrigger' ? TRIGGER : description;
		return sectionOf({ heading: 'Triggers', name: displayName, description: text, key: type }, own);
	});
	return [...operations, ...triggers];
}

const sameAs = (a: Row) => (b: Row) =>
	a.label === b.label && a.list === b.list && a.cells === b.cells;

/** Rows that several sections have, in the order in which they appear. */
function shared(all: Row[][]): Row[] {
	const rows = all.flat();
	const isShared = (row: Row) => all.filter((list) => list.some(sameAs(row))).length > 1;
	return rows.filter((row, index) => isShared(row) && rows.findIndex(sameAs(row)) === index);
}

const rowLine = ({ label, cells }: Row) => `| ${label} | ${cells} |`;

const table = (lines: string[]) => ['| | Type | What it does |', '| - | - | - |', ...lines, ''];

/** Options without a group first, then each group under its names. */
function optionLines(rows: Row[], all: Row[][]): string[] {
	const places = all.flat();
	const groupOf = (row: Row) =>
		places.find((place) => sameAs(row)(place) && place.group)?.group?.name ?? '';
	const groups = [...new Set(rows.map(groupOf))].toSorted();
	return groups.flatMap((name) => {
		const inside = rows.filter((row) => groupOf(row) === name).map(rowLine);
		const titles = places.flatMap(({ group }) => (group?.name === name ? [group.displayName] : []));
		return name === '' ? inside : [`| **${[...new Set(titles)].join(' · ')}** | | |`, ...inside];
	});
}

/** What _Add Option_ or the panel lists. */
const labels = (rows: Row[]) => [
	...new Set(
		rows
			.filter(({ isDependent, list }) => !isDependent && list === undefined)
			.map(({ label, group }) => group?.displayName ?? label),
	),
];

function requireOutput(outputs: Record<string, unknown>, key: string): unknown {
	if (key in outputs) return outputs[key];
	throw new Error(`scripts/exampleOutputs.json has no '${key}': add an item that it returns`);
}

/** An item that an operation returns, or a sentence about it. */
function outputOf(output: unknown): string[] {
	if (typeof output === 'string') return [output];
	const parts = JSON.stringify(output, undefined, 1)
		.replaceAll(/\n\s*/g, ' ')
		.split(/(?<=,) (?=")/);
	const lines = [''];
	for (const part of parts) {
		const line = `${lines.at(-1)!} ${part}`.trim();
		if (line.length <= WIDTH) lines[lines.length - 1] = line;
		else lines.push(`  ${part}`);
	}
	return ['```json', ...lines, '```'];
}

export function operationsPage(): string {
	const outputs = JSON.parse(readFileSync(OUTPUTS, 'utf8')) as Record<string, unknown>;
	const all = sections();
	const allParameters = all.map(({ parameters }) => parameters);
	const allOptions = all.map(({ options }) => options);
	const common = [shared(allParameters), shared(allOptions)] as const;
	const own = (rows: Row[], [...others]: readonly Row[]) =>
		rows.filter((row) => !others.some(sameAs(row)));
	const partOf = (section: Section, index: number) => {
		const isFirst = all[index - 1]?.heading !== section.heading;
		const [parameters, options] = [
			own(section.parameters, common[0]),
			own(section.options, common[1]),
		];
		const line = (title: string, names: string[]) =>
			names.length > 0 ? `${title}: ${names.map((name) => `_${name}_`).join(', ')}.` : '';
		const described = [
			line('Parameters', labels(own(section.parameters, parameters))),
			line('Options', labels(own(section.options, options))),
		].filter(Boolean);
		const rows = [
			...parameters.map(rowLine),
			...(parameters.length > 0 && options.length > 0 ? ['| **Options** | | |'] : []),
			...optionLines(options, [section.options]),
		];
		return [
			...(isFirst ? [`## ${section.heading}`, ''] : []),
			`### ${section.name}`,
			'',
			[sentence(section.description), ...described].join(' '),
			'',
			...(rows.length > 0 ? table(rows) : []),
			...outputOf(requireOutput(outputs, section.key)),
			'',
		];
	};
	return [
		INTRODUCTION,
		'## Parameters that several operations have',
		'',
		...table(common[0].map(rowLine)),
		'## Options that several operations have',
		'',
		...table(optionLines(common[1], allOptions)),
		...all.flatMap(partOf),
	]
		.join('\n')
		.replace(/\n+$/, '\n');
}

const INTRODUCTION = `# Operations

Every operation, with its parameters, its options and an item that it returns. \`npm run docs\` writes this page from the
nodes.

- The default is **bold**; a switch without it is _off_.
- Options are under _Add Option_. If the table names a group, add the group first. A switch outside a group is on once it
  is added.
- A label that ends in _Name or ID_ is a list; an expression gives an ID.
- Each record also has \`created\` and \`modified\`.
`;

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, operationsPage());
