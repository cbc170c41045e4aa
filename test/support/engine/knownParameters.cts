/** Checks the parameters that a test sets: a misspelt one would have no effect. */
import type { INodeParameters, INodeProperties, INodePropertyCollection, NodeParameterValueType } from 'n8n-workflow';

/** The key of a sub-collection of options. */
const GROUP_KEY = 'settings';

type Value = NodeParameterValueType | undefined;

const isObject = (value: Value): value is INodeParameters => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether the editor may show a parameter for a resource and operation, whatever the other values
 * are.
 */
function isOf({ displayOptions: { show = {} } = {} }: INodeProperties, values: INodeParameters) {
	return ['resource', 'operation'].every((name) => !show[name] || (show[name] as unknown[]).includes(values[name]));
}

function* unknownIn(value: Value, properties: INodeProperties[], path: string): Generator<string> {
	if (!isObject(value)) return;
	// An empty collection sets nothing.
	const set = Object.entries(value).filter(([, inner]) => JSON.stringify(inner) !== '{}');
	for (const [name, inner] of set) {
		const found = properties.filter((property) => property.name === name);
		if (found.length === 0) yield `${path}${name}`;
		for (const property of found) yield* unknownInside(inner as Value, property, `${path}${name}.`);
	}
}

function* unknownInside(value: Value, property: INodeProperties, path: string): Generator<string> {
	if (property.type === 'collection') {
		yield* unknownIn(value, property.options as INodeProperties[], path);
	} else if (property.type === 'fixedCollection' && isObject(value)) {
		const groups = property.options as INodePropertyCollection[];
		for (const [name, entries] of Object.entries(value)) {
			const group = groups.find((entry) => entry.name === name);
			if (!group) yield `${path}${name}`;
			else for (const entry of [entries].flat()) yield* unknownIn(entry as Value, group.values, `${path}${name}.`);
		}
	}
}

/**
 * The names that the node does not have for the resource and operation, with their paths. None if
 * the node does not have the operation: then the node itself reports it.
 */
export function unknownParameters(properties: INodeProperties[], values: INodeParameters): string[] {
	const operations = properties.filter((property) => property.name === 'operation' && isOf(property, { ...values, operation: '' }));
	const isKnown = operations.some(({ options = [] }) => options.some((option) => 'value' in option && option.value === values.operation));
	if (!isKnown) return [];
	return [
		...unknownIn(
			values,
			properties.filter((property) => isOf(property, values)),
			'',
		),
	];
}

/** The values that the operation has a parameter for. */
export function knownParameters(properties: INodeProperties[], operation: INodeParameters, values: INodeParameters): INodeParameters {
	const unknown = new Set(unknownParameters(properties, { ...values, ...operation }));
	return Object.fromEntries(Object.entries(values).filter(([name]) => !unknown.has(name)));
}

/**
 * Moves each option to where the editor stores it: a test names an option, and need not know which
 * operation keeps it in a sub-collection.
 */
export function inSubCollections(properties: INodeProperties[], values: INodeParameters): INodeParameters {
	const collection = properties.find((property) => property.name === 'options' && isOf(property, values));
	if (!collection || !isObject(values.options)) return values;
	const options: INodeParameters = { ...values.options };
	for (const { name, type, options: groups } of collection.options as INodeProperties[]) {
		const group = (groups as INodePropertyCollection[] | undefined)?.[0];
		if (type !== 'fixedCollection' || group?.name !== GROUP_KEY) continue;
		const given = group.values.map((entry) => entry.name).filter((entry) => entry in options);
		if (given.length === 0) continue;
		options[name] = { [GROUP_KEY]: Object.fromEntries(given.map((entry) => [entry, options[entry]])) };
		for (const entry of given) delete options[entry];
	}
	return { ...values, options };
}
