/** The three workflows that are interrupted: a sync, uploads, and what the trigger starts. */

import { CREDENTIAL_NAME, CREDENTIAL_TYPE } from '../../../harness/examples.mts';
import type { JsonObject, WorkflowJson, WorkflowNode } from '../../../harness/n8nApi.mts';
import { APP, CASES, FILE_FIELDS, GOODS, RECEIVED_CHANGES } from './sandboxHost.mts';

const PACKAGE = 'n8n-nodes-data-platform';
const FOR_N8N = 'n8n-nodes-base';
const SECONDS_BETWEEN_POLLS = 3;

export const START = 'Start';
export const WRITE = 'Write';
export const TRIGGER = 'Changes';
/** The node that writes into a file field. */
export const uploadNode = (field: string) => `Upload ${field}`;

type Step = Pick<WorkflowNode, 'name' | 'type' | 'typeVersion' | 'parameters'> & { onError?: string };

const id = (value: string) => ({ __rl: true, mode: 'id', value });
const place = (table: string) => ({ application: id(APP), table: id(table) });

const start: Step = { name: START, type: `${FOR_N8N}.manualTrigger`, typeVersion: 1, parameters: {} };

const get = (name: string, url: string, options: JsonObject = {}): Step => ({
	name,
	type: `${FOR_N8N}.httpRequest`,
	typeVersion: 4.2,
	parameters: { url, options },
});

const platform = (name: string, parameters: JsonObject): Step => ({
	name,
	type: `${PACKAGE}.dataPlatform`,
	typeVersion: 1,
	parameters,
	onError: 'continueErrorOutput',
});

const AUTOMATIC = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };

const upsert = (table: string, parameters: JsonObject): Step =>
	platform(WRITE, { resource: 'record', operation: 'upsert', ...place(table), columns: AUTOMATIC, options: {}, ...parameters });

/** How the files of a field are written; see FILE_FIELDS. */
const WAYS: Record<(typeof FILE_FIELDS)[number], JsonObject> = {
	skipped: { existingFiles: 'append', options: { skipExisting: true } },
	replaced: { existingFiles: 'replace', options: {} },
	kept: { existingFiles: 'append', options: {} },
};

const uploads: Step[] = FILE_FIELDS.map((field) =>
	platform(uploadNode(field), {
		resource: 'attachment',
		operation: 'upload',
		...place(CASES),
		target: 'existing',
		recordId: id(`={{ $('${WRITE}').item.json.id }}`),
		fileField: field,
		inputDataFieldName: 'data',
		...WAYS[field],
	}),
);

/** @param levels each step of a level is connected to the last step of the previous level */
function workflow(name: string, credentialId: string, levels: Step[][]): WorkflowJson {
	const credentials = { [CREDENTIAL_TYPE]: { id: credentialId, name: CREDENTIAL_NAME } };
	const nodes = levels
		.flat()
		.map((step, index) => ({
			...step,
			id: `node-${index}`,
			position: [index * 200, 0] as [number, number],
			...(step.type.startsWith(PACKAGE) && { credentials }),
		}));
	const connections = Object.fromEntries(
		levels.slice(0, -1).map((level, index) => {
			const next = levels[index + 1]!.map((step) => ({ node: step.name, type: 'main', index: 0 }));
			return [level.at(-1)!.name, { main: [next] }];
		}),
	);
	return { name, nodes, connections };
}

/** Thousands of items over HTTP into the platform. */
export const syncWorkflow = (credentialId: string, source: string): WorkflowJson =>
	workflow('Sync', credentialId, [[start], [get('Get', `${source}/goods`)], [upsert(GOODS, {})]]);

/** Records, and a file for each of them, written in three ways. */
export const uploadWorkflow = (credentialId: string, source: string): WorkflowJson =>
	workflow('Uploads', credentialId, [
		[start],
		[get('Get', `${source}/cases`)],
		[upsert(CASES, {})],
		[get('File', `=${source}/file?number={{ encodeURIComponent($json.number) }}`, { response: { response: { responseFormat: 'file' } } })],
		uploads,
	]);

/** Active: each change of a good becomes a record, under the change's key. */
export const triggerWorkflow = (credentialId: string): WorkflowJson =>
	workflow('Watched goods', credentialId, [
		[
			{
				name: TRIGGER,
				type: `${PACKAGE}.dataPlatformTrigger`,
				typeVersion: 1,
				parameters: {
					pollTimes: {
						// At most once a minute for each poll time, so there are several.
						item: Array.from({ length: 60 / SECONDS_BETWEEN_POLLS }, (_, index) => ({
							mode: 'custom',
							cronExpression: `${index * SECONDS_BETWEEN_POLLS} * * * * *`,
						})),
					},
					triggerOn: 'createdOrUpdated',
					startFrom: 'beginning',
					...place(GOODS),
					options: { maxRecordsPerPoll: 2000 },
				},
			},
		],
		[
			{
				...upsert(RECEIVED_CHANGES, {
					columns: {
						...AUTOMATIC,
						mappingMode: 'defineBelow',
						value: { change: '={{ $json.id }}:{{ $json.ver }}', event: '={{ $json.event }}' },
					},
					options: { requests: { settings: { batchSize: 500 } } },
				}),
				// A failed write stops the execution, which is then repeated.
				onError: 'stopWorkflow',
			},
		],
	]);
