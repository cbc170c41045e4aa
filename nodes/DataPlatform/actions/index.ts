/**
 * All resources, in the order of the editor. The Resource and Operation parameters are built from
 * this list, and the operation to run is looked up in it.
 */
import { UserError, type INodeProperties } from 'n8n-workflow';

import { application } from './application';
import { attachment } from './attachment';
import { operationHints, withBuilderHints } from '../parameters/builderHints';
import type { Operation, Resource } from '../run/operation';
import { record } from './record';
import { table } from './table';
import { workflow } from './workflow';

/**
 * Record comes first: if resources share an operation's name, n8n's AI reads only the first one's
 * description.
 */
const resources: Resource[] = [record, attachment, workflow, table, application];

/** @throws {UserError} if a newer version of this package saved the workflow */
export function findOperation(resource: string, operation: string): Operation {
	const found = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation);
	if (found) return found;
	throw new UserError(`This version of the node has no operation '${resource}: ${operation}'`);
}

const shownFor = (resource: Resource, operation: Operation, field: INodeProperties) => ({
	...field,
	displayOptions: {
		...field.displayOptions,
		show: {
			resource: [resource.value],
			operation: [operation.value],
			...field.displayOptions?.show,
		},
	},
});

function operationParameter({ value, operations, initial }: Resource): INodeProperties {
	const preset = (initial ?? operations[0])?.value;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options: operations.map(({ value: option, name, action, description }) => ({
			name,
			value: option,
			action,
			description,
		})),
		default: preset,
	};
}

/** The text below the node on the canvas: the operation's name in the editor, and its resource. */
export const subtitle = (() => {
	const operations = resources.flatMap((resource) => resource.operations);
	const names = operations.map(({ value, name }): [string, string] => [
		value,
		name[0]! + name.slice(1).toLowerCase(),
	]);
	const named = JSON.stringify(Object.fromEntries(names));
	return `={{ (${named})[$parameter["operation"]] + ": " + $parameter["resource"] }}`;
})();

/** The node's parameters: Resource, then Operation, then the fields of each operation. */
export const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ name, value }) => ({ name, value })),
		default: 'record',
	},
	...resources.map(operationParameter),
	...resources.flatMap((resource) =>
		resource.operations.flatMap((operation) =>
			withBuilderHints(operation.properties).map((field) => shownFor(resource, operation, field)),
		),
	),
];

/** For n8n's AI, which builds workflows. */
export const builderHints = operationHints(resources);
