/**
 * All resources, in the order of the editor. The Resource and Operation parameters are built from
 * this list, and the operation to run is looked up in it.
 */
import { UserError, type INodeProperties } from 'n8n-workflow';

import type { Operation, Resource } from '../run/operation';
import { getMany as getApplications } from './application/getMany';
import { download } from './attachment/download';
import { remove } from './attachment/remove';
import { upload } from './attachment/upload';
import { count } from './record/count';
import { create } from './record/create';
import { deleteOne } from './record/delete';
import { deleteMany } from './record/deleteMany';
import { exportToFile } from './record/exportToFile';
import { get } from './record/get';
import { getChanges } from './record/getChanges';
import { getMany } from './record/getMany';
import { importFromFile } from './record/importFromFile';
import { summarize } from './record/summarize';
import { sync } from './record/sync';
import { update } from './record/update';
import { upsert } from './record/upsert';
import { get as getTable } from './table/get';
import { getMany as getTables } from './table/getMany';
import { trigger } from './workflow/trigger';
import { triggerAndWait } from './workflow/triggerAndWait';

/**
 * Record comes first: if resources share an operation's name, n8n's AI reads only the first one's
 * description. Operations are sorted by the name that users see, which n8n's lint requires.
 */
const resources: Resource[] = [
	{
		value: 'record',
		name: 'Record',
		initial: getMany,
		operations: [
			...[count, create, upsert, deleteOne, deleteMany, exportToFile, get, getChanges, getMany],
			...[importFromFile, summarize, sync, update],
		],
	},
	{
		value: 'attachment',
		name: 'Attachment',
		initial: upload,
		operations: [download, remove, upload],
	},
	{ value: 'workflow', name: 'Workflow', operations: [trigger, triggerAndWait] },
	{ value: 'table', name: 'Table', operations: [getTable, getTables] },
	{ value: 'application', name: 'Application', operations: [getApplications] },
];

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

/** The table's internal name; nothing if an ID, a URL or an expression gives it. n8n passes its value. */
const TABLE_NAME =
	'["record", "attachment"].includes($parameter["resource"]) && /^(?!\\w{8}-)\\w[\\w-]*$/.exec($parameter["table"])?.[0]';

/** The text below the node on the canvas: the operation's name in the editor, and its table. */
export const subtitle = (() => {
	const operations = resources.flatMap((resource) => resource.operations);
	const names = operations.map(({ value, name }): [string, string] => [
		value,
		name[0]! + name.slice(1).toLowerCase(),
	]);
	const named = JSON.stringify(Object.fromEntries(names));
	return `={{ (${named})[$parameter["operation"]] + ": " + ((${TABLE_NAME}) || $parameter["resource"]) }}`;
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
			operation.properties.map((field) => shownFor(resource, operation, field)),
		),
	),
];

/** For n8n's AI: of operations that share a name, it reads only the first one's description. */
export const builderHints = resources.slice(1).flatMap(({ value: resource, operations }) =>
	operations
		.filter(({ value }) => resources[0]!.operations.some((first) => first.value === value))
		.map(({ value, description: content }) => ({
			content,
			displayOptions: { show: { resource: [resource], operation: [value] } },
		})),
);
