/**
 * Operations with typed parameters: an operation that reads a parameter it does not show does not
 * compile.
 */
import type { INodeProperties } from 'n8n-workflow';

import type { Ledger } from '../run/ledger';
import type { BulkOperation, ItemOperation } from '../run/operation';
import type {
	NameOf,
	Parameter,
	ShownParameter,
	ShownParameters,
} from '../parameterKinds/parameter';
import type { RunContext } from '../run/run';

/** Options in a sub-collection. An operation with many options groups the rare ones. */
export class OptionGroup<Option extends string> {
	constructor(
		readonly name: string,
		readonly label: string,
		readonly description: string,
		readonly options: Array<Parameter<Option, unknown>>,
	) {}
}

/** The names of options, including those in groups. */
export type OptionOf<Options> =
	Options extends ReadonlyArray<infer Each>
		? Each extends { options: infer Grouped }
			? NameOf<Grouped>
			: NameOf<Each>
		: never;

type Options<Option extends string> = Array<Parameter<Option, unknown> | OptionGroup<Option>>;

type Definition<Kind, Field extends string, Option extends string> = Omit<
	Kind,
	'kind' | 'properties' | 'shown' | 'execute' | 'concurrencyKey'
> & {
	fields: Array<Parameter<Field, unknown>>;
	/** The collection Options, which is the last field. */
	options?: Options<Option>;
};

const byLabel = (entries: INodeProperties[]) =>
	entries.toSorted((a, b) => a.displayName.localeCompare(b.displayName));

/** The key of a sub-collection: `options.requests.settings.batchSize`. */
const GROUP_KEY = 'settings';

const groupEntry = ({
	name,
	label: displayName,
	description,
	options,
}: OptionGroup<string>): INodeProperties => {
	const values = byLabel(options.map(({ property }) => property));
	return {
		...{ displayName, name, description },
		type: 'fixedCollection',
		placeholder: `Add ${displayName}`,
		default: { [GROUP_KEY]: {} },
		options: [{ displayName, name: GROUP_KEY, values }],
	};
};

/**
 * Adding a switch that is off without it turns it on: adding *Dry Run* must not leave the node
 * writing. All switches of a group appear with the group, so theirs stay off.
 */
const added = (property: INodeProperties): INodeProperties =>
	property.default === false ? { ...property, default: true } : property;

/** A collection of optional settings, sorted by name as in the editor. */
const optionsEntry = (options: Options<string>): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	options: byLabel(
		options.map((option) => {
			return option instanceof OptionGroup ? groupEntry(option) : added(option.property);
		}),
	),
});

/** The parameters in the editor, and their paths in the workflow. */
export function shownParameters(
	fields: Array<Parameter<string, unknown>>,
	options: Options<string> = [],
): { properties: INodeProperties[]; shown: ShownParameters } {
	const shown = new Map<string, ShownParameter>();
	const add = (path: string, entries: Array<Parameter<string, unknown>>, group?: string) => {
		for (const { name, property } of entries) {
			shown.set(name, { path: `${path}${name}`, property, ...(group !== undefined && { group }) });
		}
	};
	add('', fields);
	for (const option of options) {
		if (option instanceof OptionGroup) {
			add(`options.${option.name}.${GROUP_KEY}.`, option.options, option.label);
		} else add('options.', [option]);
	}
	const properties = fields.map(({ property }) => property);
	if (options.length > 0) properties.push(optionsEntry(options));
	return { properties, shown };
}

/** A hint that names options as the operation lists them: an option in a group with its group. */
export function withGroups(hint: string, shown: ShownParameters): string {
	let text = hint;
	for (const { group, property } of shown.values()) {
		if (group === undefined) continue;
		const label = property.displayName;
		text = text.replaceAll(`'${label}'`, `'${group} → ${label}'`);
	}
	return text;
}

/** A hint for a model, which passes values: what it says of expressions is left out. */
export const withoutExpressions = (hint: string): string =>
	hint
		.replace(/,? or (?:correct )?the expression in it/g, '')
		.split(/(?<=\.) /)
		.filter((sentence) => !/\bexpressions?\b/.test(sentence))
		.join(' ') || 'Pass another value.';

/** An operation that runs once for each item. */
export const itemOperation = <Field extends string, Option extends string = never>({
	fields,
	options,
	...operation
}: Definition<ItemOperation, Field, Option> & {
	concurrencyKey?(run: RunContext<Field | Option>, index: number): string | Promise<string>;
	execute(
		run: RunContext<Field | Option>,
		index: number,
		attempt: number,
	): ReturnType<ItemOperation['execute']>;
}): ItemOperation => ({ ...operation, kind: 'item', ...shownParameters(fields, options) });

/** An operation that gets all items and reports on each. */
export const bulkOperation = <Field extends string, Option extends string = never>({
	fields,
	options,
	...operation
}: Definition<BulkOperation, Field, Option> & {
	execute(run: RunContext<Field | Option>, ledger: Ledger): Promise<void>;
}): BulkOperation => ({ ...operation, kind: 'bulk', ...shownParameters(fields, options) });
