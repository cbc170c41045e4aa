/** The three workflows that are interrupted: a sync, uploads, and what the trigger starts. */

import { CREDENTIAL_NAME, CREDENTIAL_TYPE } from '../../../harness/examples.mts';
import type { JsonObject, WorkflowJson } from '../../../harness/n8nApi.mts';
import { baseNode, byId, inTable, NODE_TYPE, platformNode, type Step } from '../../support/linearWorkflow.mts';
import { APP, CASES, FILE_FIELDS, GOODS, RECEIVED_CHANGES } from './sandboxHost.mts';

const SECONDS_BETWEEN_POLLS = 3;

export const START = 'Start';
export const WRITE = 'Write';
export const TRIGGER = 'Changes';
/** The node that writes into a file field. */
export const uploadNode = (field: string) => `Upload ${field}`;

const start = baseNode(START, 'manualTrigger', 1);

const get = (name: string, url: string, options: JsonObject = {}) => baseNode(name, 'httpRequest', 4.2, { url, options });

const AUTOMATIC = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };

const upsert = (table: string, parameters: JsonObject = {}): Step => ({
	...platformNode(WRITE, 'record: upsert', { ...inTable(APP, table), columns: AUTOMATIC, options: {}, ...parameters }),
	onError: 'continueErrorOutput',
});

/** How the files of a field are written; see FILE_FIELDS. */
const WAYS: Record<(typeof FILE_FIELDS)[number], JsonObject> = {
	skipped: { existingFiles: 'append', options: { skipExisting: true } },
	replaced: { existingFiles: 'replace', options: {} },
	kept: { existingFiles: 'append', options: {} },
};

const uploads = FILE_FIELDS.map((field): Step => {
	const recordId = byId(`={{ $('${WRITE}').item.json.id }}`);
	const parameters = { target: 'existing', recordId, fileField: field, inputDataFieldName: 'data', ...WAYS[field] };
	const node = platformNode(uploadNode(field), 'attachment: upload', { ...inTable(APP, CASES), ...parameters });
	return { ...node, onError: 'continueErrorOutput' };
});

/** @param levels each step of a level is connected to the last step of the previous level */
function workflow(name: string, credentialId: string, levels: Step[][]): WorkflowJson {
	const credentials = { [CREDENTIAL_TYPE]: { id: credentialId, name: CREDENTIAL_NAME } };
	const nodes = levels
		.flat()
		.map((step, index) => ({
			...step,
			id: `node-${index}`,
			position: [index * 200, 0] as [number, number],
			...(step.type.startsWith(NODE_TYPE) && { credentials }),
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
	workflow('Sync', credentialId, [[start], [get('Get', `${source}/goods`)], [upsert(GOODS)]]);

/** Records, and a file for each of them, written in three ways. */
export const uploadWorkflow = (credentialId: string, source: string): WorkflowJson =>
	workflow('Uploads', credentialId, [
		[start],
		[get('Get', `${source}/cases`)],
		[upsert(CASES)],
		[get('File', `=${source}/file?number={{ encodeURIComponent($json.number) }}`, { response: { response: { responseFormat: 'file' } } })],
		uploads,
	]);

/** At most once a minute for each poll time, so there are several. */
const pollTimes = Array.from({ length: 60 / SECONDS_BETWEEN_POLLS }, (_, index) => {
	return { mode: 'custom', cronExpression: `${index * SECONDS_BETWEEN_POLLS} * * * * *` };
});

/** Active: each change of a good becomes a record, under the change's key. */
export function triggerWorkflow(credentialId: string): WorkflowJson {
	const watch = { triggerOn: 'createdOrUpdated', startFrom: 'beginning', ...inTable(APP, GOODS), options: { maxRecordsPerPoll: 2000 } };
	const trigger = { name: TRIGGER, type: `${NODE_TYPE}Trigger`, typeVersion: 1, parameters: { pollTimes: { item: pollTimes }, ...watch } };
	const value = { change: '={{ $json.id }}:{{ $json.ver }}', event: '={{ $json.event }}' };
	const columns = { ...AUTOMATIC, mappingMode: 'defineBelow', value };
	const write = upsert(RECEIVED_CHANGES, { columns, options: { requests: { settings: { batchSize: 500 } } } });
	// A failed write stops the execution, which is then repeated.
	return workflow('Watched goods', credentialId, [[trigger], [{ ...write, onError: 'stopWorkflow' }]]);
}
