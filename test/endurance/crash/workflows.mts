/** The three workflows that are interrupted: a sync, uploads, and what the trigger starts. */

import type { JsonObject, WorkflowJson } from '../../../harness/n8nApi.mts';
import {
	AUTOMATIC,
	baseNode,
	byId,
	everySeconds,
	inTable,
	linearWorkflow,
	mapped,
	platformNode,
	type Step,
	triggerNode,
} from '../../support/linearWorkflow.mts';
import { APP, CASES, FILE_FIELDS, GOODS, RECEIVED_CHANGES } from './sandboxHost.mts';

const SECONDS_BETWEEN_POLLS = 3;

export const START = 'Start';
export const WRITE = 'Write';
export const TRIGGER = 'Changes';
/** The node that writes into a file field. */
export const uploadNode = (field: string) => `Upload ${field}`;

const get = (name: string, url: string, options: JsonObject = {}) => baseNode(name, 'httpRequest', 4.2, { url, options });

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

/** Thousands of items over HTTP into the platform. */
export const syncWorkflow = (credentialId: string, source: string): WorkflowJson =>
	linearWorkflow('Sync', credentialId, [get('Get', `${source}/goods`), upsert(GOODS)]);

/** Records, and a file for each of them, written in three ways. */
export const uploadWorkflow = (credentialId: string, source: string): WorkflowJson =>
	linearWorkflow('Uploads', credentialId, [
		get('Get', `${source}/cases`),
		upsert(CASES),
		get('File', `=${source}/file?number={{ encodeURIComponent($json.number) }}`, { response: { response: { responseFormat: 'file' } } }),
		uploads,
	]);

/** Active: each change of a good becomes a record, under the change's key. */
export function triggerWorkflow(credentialId: string): WorkflowJson {
	const watch = { triggerOn: 'createdOrUpdated', startFrom: 'beginning', ...inTable(APP, GOODS), options: { maxRecordsPerPoll: 2000 } };
	const trigger = triggerNode(TRIGGER, everySeconds(SECONDS_BETWEEN_POLLS), watch);
	const columns = mapped({ change: '={{ $json.id }}:{{ $json.ver }}', event: '={{ $json.event }}' });
	const write = upsert(RECEIVED_CHANGES, { columns, options: { requests: { settings: { batchSize: 500 } } } });
	// A failed write stops the execution, which is then repeated.
	return linearWorkflow('Watched goods', credentialId, [{ ...write, onError: 'stopWorkflow' }], trigger);
}
