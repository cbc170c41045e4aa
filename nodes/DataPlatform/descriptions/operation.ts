/**
 * Operations whose parameters the compiler knows: what `execute` reads is checked against the
 * operation's fields and options, so that a misspelt name does not compile.
 */
import type { INodeProperties } from 'n8n-workflow';

import type { ItemResults } from '../execution/itemResults';
import type { BulkOperation, ItemOperation, Parameter } from '../execution/operation';
import type { RunContext } from '../execution/run';
import type { DeletedCount } from '../transport/errors';
import { options, subCollection, type OptionGroup } from './common';

/** The parameters that an operation has: its fields, and its options by their path. */
type Names<Field extends string, Option extends string> = Field | `options.${Option}`;

type Definition<Kind, Field extends string, Option extends string> = Omit<
	Kind,
	'kind' | 'fields' | 'execute' | 'concurrencyKey'
> & {
	fields: Array<Parameter<Field>>;
	/** What the collection Options offers; it is the last field. */
	options?: Array<Parameter<Option>>;
	/** What it offers in sub-collections. */
	optionGroups?: Array<OptionGroup<Option>>;
};

const allFields = (
	fields: INodeProperties[],
	entries: INodeProperties[],
	groups: Array<OptionGroup<string>>,
) => {
	const all = [...entries, ...groups.map(subCollection)];
	return all.length > 0 ? [...fields, options(...all)] : fields;
};

/** An operation that runs for each item by itself. */
export const itemOperation = <Field extends string, Option extends string = never>({
	fields,
	options: entries = [],
	optionGroups = [],
	...operation
}: Definition<ItemOperation, Field, Option> & {
	concurrencyKey?(run: RunContext<Names<Field, Option>>, index: number): string;
	execute(
		run: RunContext<Names<Field, Option>>,
		index: number,
		before?: DeletedCount,
	): ReturnType<ItemOperation['execute']>;
}): ItemOperation => ({
	...operation,
	kind: 'item',
	fields: allFields(fields, entries, optionGroups),
});

/** An operation that sees all items and reports on each. */
export const bulkOperation = <Field extends string, Option extends string = never>({
	fields,
	options: entries = [],
	optionGroups = [],
	...operation
}: Definition<BulkOperation, Field, Option> & {
	execute(run: RunContext<Names<Field, Option>>, report: ItemResults): Promise<void>;
}): BulkOperation => ({
	...operation,
	kind: 'bulk',
	fields: allFields(fields, entries, optionGroups),
});
