/**
 * For n8n's AI, which builds workflows with these nodes: examples, and hints that several parameters
 * share.
 */
import type { IBuilderHintVariation, IDataObject } from 'n8n-workflow';

export const ON_REQUEST = 'Only if the user asks for exactly this.';

export const GUARD = 'A guard, not a page size. Keep the default unless the user gives a number.';

export const TEXT_ONLY = "Always a string, such as '18', 'true' or '2026-01-31'.";

const located = (value: string) => ({ __rl: true, mode: 'id', value });

const contacts = { application: located('crm'), table: located('contacts') };

const adults = { condition: [{ field: 'age', operator: 'gte', value: '18' }] };

const automatic = { mappingMode: 'autoMapInputData', value: null };

/** Examples for operations that a model gets wrong without one. */
const EXAMPLES: Readonly<Record<string, IDataObject>> = {
	getAll: {
		...contacts,
		filterMode: 'conditions',
		matchType: 'and',
		conditions: adults,
		sort: { by: [{ field: 'surname', direction: 'asc' }] },
		returnAll: true,
	},
	create: {
		...contacts,
		columns: { mappingMode: 'defineBelow', value: { email: 'ada@example.com', age: 36 } },
	},
	upsert: { ...contacts, matchOn: 'importKey', columns: automatic },
	update: { ...contacts, matchOn: 'fields', matchFields: ['email'], columns: automatic },
	sync: {
		...contacts,
		matchOn: 'importKey',
		columns: automatic,
		missingRecords: 'setFields',
		fieldsToSet: { entry: [{ field: 'newsletter', value: 'false' }] },
		filterMode: 'conditions',
		matchType: 'and',
		conditions: adults,
	},
	deleteMany: {
		...contacts,
		filterMode: 'conditions',
		matchType: 'and',
		conditions: { condition: [{ field: 'newsletter', operator: 'is', choice: 'false' }] },
	},
	summarize: {
		...contacts,
		summaries: { summary: [{ field: 'age', aggregations: ['avg', 'max'] }] },
	},
};

const example = (parameters: IDataObject) => `Example: ${JSON.stringify(parameters)}`;

/** Examples of the triggers' parameters. */
export const triggerExamples = {
	poll: [
		{
			content: example({
				triggerOn: 'created',
				...contacts,
				filterMode: 'conditions',
				matchType: 'and',
				conditions: adults,
			}),
		},
	],
	webhook: [{ content: example(contacts) }],
} satisfies Record<string, IBuilderHintVariation[]>;

/** Examples, and descriptions of operations that share a name with one of Record. */
export const operationHints = (
	resources: ReadonlyArray<{
		value: string;
		operations: ReadonlyArray<{ value: string; description: string }>;
	}>,
): IBuilderHintVariation[] => {
	const [first, ...others] = resources;
	const names = new Set(first?.operations.map(({ value }) => value));
	const on = (resource: string, operation: string, content: string): IBuilderHintVariation => ({
		content,
		displayOptions: { show: { resource: [resource], operation: [operation] } },
	});
	return [
		...Object.entries(EXAMPLES).map(([operation, parameters]) =>
			on('record', operation, example(parameters)),
		),
		// If resources share an operation's name, n8n uses only the first one's description.
		...others.flatMap(({ value, operations }) =>
			operations
				.filter((operation) => names.has(operation.value))
				.map((operation) => on(value, operation.value, operation.description)),
		),
	];
};
