/**
 * Hints and examples for n8n's AI, which builds workflows with these nodes. It reads all operations
 * at once, so a hint is short and does not repeat the description.
 */
import type {
	IBuilderHintVariation,
	IDataObject,
	INodeProperties,
	INodePropertyCollection,
} from 'n8n-workflow';

const LOCATOR =
	"{ __rl: true, mode: 'id', value: 'internalName' } if the user named it, else mode 'list' and value '' for the user to choose. Never a plain string.";

const ON_REQUEST = 'Only if the user asks for exactly this.';

/** By parameter name, including those inside collections. */
export const HINTS: Readonly<Record<string, string>> = {
	application: LOCATOR,
	table: "Required, in the form of 'application', which it needs beside it.",
	columns:
		"{ mappingMode: 'autoMapInputData', value: null } if the keys of the items are the names of the fields, else { mappingMode: 'defineBelow', value: { fieldName: value } }. It must include the fields that records are matched on. The method 'getWritableFields' (loadOptions) lists the fields.",
	filterMode:
		"'conditions' for nearly every filter. Filter here, not in a node behind this one: the platform returns matching records only.",
	operator:
		"With 'value': eq, neq, exactly, contains, notcontains, startswith, endswith, gt, gte, lt, lte, in, notin. With 'choice': is, isNot. With 'choices': isOneOf, isNoneOf. Without a value: empty, notempty, currentuser, duplicity. For checkboxes and dropdowns use is and isOneOf.",
	value: "Always a string, such as '18', 'true' or '2026-01-31'.",
	matchOn:
		"'importKey' works only if the table's definition marks a field as its import key, or the option 'importKey' names it. If the user names a field to match on, use 'fields' and 'matchFields', unless it is that key.",
	missingRecords: `'delete': ${ON_REQUEST.toLowerCase()} With 'setFields' or 'delete', filter to the part of the table that the input stands for.`,
	maxRecordsToRemove: 'A guard, not a page size. Keep the default unless the user gives a number.',
	maxShareToRemove: 'A guard in percent. Keep the default unless the user gives a number.',
	maxRecordsToDelete: 'A guard, not a page size. Keep the default unless the user gives a number.',
	allowEmptyInput: ON_REQUEST,
	removeDespiteFailures: ON_REQUEST,
	allowAll: ON_REQUEST,
	cursor:
		"The 'cursor' that the last call returned, which the workflow keeps, for example in a data table.",
};

/** A record's ID, for both types of parameters with this name. */
const RECORD_ID = {
	resourceLocator: "Required: { __rl: true, mode: 'id', value: expr('{{ $json.id }}') }.",
	string: "An expression such as expr('{{ $json.id }}').",
};

function hintFor({ name, type }: INodeProperties): string | undefined {
	if (name === 'recordId') return RECORD_ID[type as keyof typeof RECORD_ID];
	return HINTS[name];
}

/** Adds the hints to parameters, including those inside collections. */
export const withBuilderHints = (properties: INodeProperties[]): INodeProperties[] =>
	properties.map((property) => {
		const propertyHint = hintFor(property);
		const hinted = propertyHint ? { ...property, builderHint: { propertyHint } } : property;
		if (property.type === 'collection') {
			return { ...hinted, options: withBuilderHints(property.options as INodeProperties[]) };
		}
		if (property.type !== 'fixedCollection') return hinted;
		const groups = property.options as INodePropertyCollection[];
		return {
			...hinted,
			options: groups.map((group) => ({ ...group, values: withBuilderHints(group.values) })),
		};
	});

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
