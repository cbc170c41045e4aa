/**
 * The kinds of work in the load. Each compares the node's output with the records before and after, and
 * returns what is wrong with it.
 */

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { FILES, type LoadWorker, type NodeOutput } from './loadWorker.mts';

export interface Workload {
	name: string;
	/** How often it is done, compared with the others. */
	weight: number;
	/** Returns errors, and counts what is neither right nor wrong. */
	run(worker: LoadWorker, count: (what: string) => void): Promise<string[]>;
}

const KEYS = 150;
/** With more records than this, some are deleted. */
const MOST_RECORDS = 250;

const keyOf = ({ fields }: StoredRecord) => String(fields.key);
const byKey = (records: StoredRecord[]) => new Map(records.map((record) => [keyOf(record), record]));
const items = (rows: IDataObject[]): INodeExecutionData[] => rows.map((json) => ({ json }));

const row = (worker: LoadWorker, key: string): IDataObject => ({
	key,
	name: `name ${worker.random.between(0, 1e6)}`,
	amount: worker.random.between(0, 9),
});

const outcomeOf = ({ json }: INodeExecutionData) => String(json.outcome ?? (json.details as IDataObject | undefined)?.outcome);

/** Whether a record holds what was sent. */
const holds = (record: StoredRecord | undefined, sent: IDataObject) =>
	Object.entries(sent).every(([name, value]) => record?.fields[name] === value);

async function pickRecord(worker: LoadWorker): Promise<StoredRecord | undefined> {
	const records = await worker.storedRecords();
	return records[worker.random.between(0, Math.max(0, records.length - 1))];
}

/** The outcome of each item, compared with the records before and after. */
function checkEach(
	{ succeeded, failed }: NodeOutput,
	sent: IDataObject[],
	before: StoredRecord[],
	after: StoredRecord[],
	count: (what: string) => void,
): string[] {
	const [old, now] = [byKey(before), byKey(after)];
	const wrong: string[] = [];
	if (succeeded.length + failed.length !== sent.length) wrong.push('an item is missing');
	for (const item of [...succeeded, ...failed]) {
		const { item: index } = item.pairedItem as { item: number };
		const wanted = sent[index]!;
		const key = String(wanted.key);
		const [was, is] = [old.get(key), now.get(key)];
		const outcome = outcomeOf(item);
		count(outcome);
		const isTrue = {
			inserted: !was && holds(is, wanted),
			updated: was !== undefined && holds(is, wanted) && is!.ver > was.ver,
			unchanged: was !== undefined && holds(is, wanted) && is!.ver === was.ver,
			written: holds(is, wanted),
			failed: was?.ver === is?.ver,
			unknown: true,
		}[outcome];
		if (isTrue !== true) wrong.push(`${key} is reported as ${outcome}: ${JSON.stringify({ was, is })}`);
	}
	return wrong;
}

const many =
	(operation: string, makeRows: (worker: LoadWorker) => IDataObject[]): Workload['run'] =>
	async (worker, count) => {
		const before = await worker.storedRecords();
		const sent = makeRows(worker);
		const output = await worker.run('record', operation, {}, items(sent));
		return checkEach(output, sent, before, await worker.storedRecords(), count);
	};

/** Rows with different keys. */
const chosen = (worker: LoadWorker): IDataObject[] => {
	const size = worker.random.between(20, 100);
	const from = worker.random.between(0, KEYS - 1);
	return Array.from({ length: size }, (_, index) => row(worker, `key ${(from + index) % KEYS}`));
};

const fresh = (worker: LoadWorker): IDataObject[] =>
	Array.from({ length: worker.random.between(1, 20) }, () => row(worker, worker.freshKey()));

/** A write to one existing record, which must then have what the node returned. */
const one =
	(operation: string): Workload['run'] =>
	async (worker, count) => {
		const record = operation === 'create' ? undefined : await pickRecord(worker);
		const key = record ? keyOf(record) : worker.freshKey();
		const sent = row(worker, key);
		const parameters = operation === 'update' ? { recordId: record?.id ?? '' } : {};
		if (operation === 'update' && !record) return [];
		const output = await worker.run('record', operation, parameters, items([sent]));
		const is = byKey(await worker.storedRecords()).get(key);
		const [bad] = output.failed;
		if (bad) count(outcomeOf(bad));
		if (bad && outcomeOf(bad) === 'failed' && record?.ver !== is?.ver) {
			return [`${operation} is reported as failed, but was done: ${String(bad.json.error)}`];
		}
		if (output.succeeded.length === 1 && !holds(is, sent)) return [`${operation} is reported as done, but was not`];
		return output.succeeded.length + output.failed.length === 1 ? [] : [`${operation}: an item is missing`];
	};

async function readAll(worker: LoadWorker): Promise<string[]> {
	const parameters = { returnAll: true, simple: false };
	const { succeeded } = await worker.run('record', 'getAll', parameters);
	const truth = new Map((await worker.storedRecords()).map((record) => [record.id, record]));
	const wrong = succeeded.filter(({ json }) => truth.get(String(json.id))?.ver !== json.ver || !truth.delete(String(json.id)));
	// No records means no item; a failure is an item on the error output.
	if (succeeded.length > 0 && truth.size > 0) return [`${truth.size} records were not read`];
	return wrong.map(({ json }) => `${String(json.id)} is returned in version ${String(json.ver)}`);
}

async function readOne(worker: LoadWorker): Promise<string[]> {
	const record = await pickRecord(worker);
	if (!record) return [];
	const parameters = { recordId: record.id, simple: false };
	const { succeeded } = await worker.run('record', 'get', parameters);
	return succeeded.every(({ json }) => json.ver === record.ver) ? [] : ['another version was read'];
}

async function countAll(worker: LoadWorker): Promise<string[]> {
	const { length } = await worker.storedRecords();
	const { succeeded } = await worker.run('record', 'count', {});
	const wrong = succeeded.filter(({ json }) => json.count !== length);
	return wrong.map(({ json }) => `${String(json.count)} are counted, there are ${length}`);
}

async function deleteOne(worker: LoadWorker): Promise<string[]> {
	const record = await pickRecord(worker);
	if (!record) return [];
	const { succeeded, failed } = await worker.run('record', 'delete', { recordId: record.id });
	const isThere = (await worker.storedRecords()).some(({ id }) => id === record.id);
	if (succeeded.length === 1 && isThere) return ['delete is reported as done, but was not'];
	const isRefused = failed.length === 1 && outcomeOf(failed[0]!) === 'failed';
	return isRefused && !isThere ? ['delete is reported as failed, but was done'] : [];
}

/** Deletes by a filter; most records if there are many. */
async function deleteSome(worker: LoadWorker): Promise<string[]> {
	const before = await worker.storedRecords();
	const value = before.length > MOST_RECORDS ? 4 : 0;
	const condition = [{ field: 'amount', operator: 'lte', value }];
	const parameters = { maxRecordsToDelete: 10_000, filterMode: 'conditions', conditions: { condition } };
	const { succeeded } = await worker.run('record', 'deleteMany', parameters);
	const after = await worker.storedRecords();
	const [output] = succeeded;
	if (!output) return [];
	const left = after.filter(({ fields }) => Number(fields.amount) <= value).length;
	const gone = before.length - after.length;
	return output.json.deletedCount === gone && left === 0
		? []
		: [`${String(output.json.deletedCount)} are reported as deleted, ${gone} are gone, ${left} are left`];
}

interface StoredFile {
	fileId: string;
	fileName: string;
	fileSize: number;
}

const filesOf = (record: StoredRecord | undefined) => (record?.fields.papers ?? []) as StoredFile[];

async function upload(worker: LoadWorker): Promise<string[]> {
	const record = await pickRecord(worker);
	if (!record) return [];
	const file = worker.random.of(FILES[0]!, ...FILES.slice(1));
	const input = [{ json: {}, binary: { data: await worker.storeFile(file) } }];
	const existingFiles = filesOf(record).length > 3 ? 'replace' : worker.random.of('append', 'replace');
	const { succeeded, failed } = await worker.run(
		'attachment',
		'upload',
		{ recordId: record.id, fileField: 'papers', target: 'existing', existingFiles, inputDataFieldName: 'data' },
		input,
	);
	const there = filesOf((await worker.storedRecords()).find(({ id }) => id === record.id));
	const same = (files: StoredFile[]) =>
		files.filter(({ fileName, fileSize }) => fileName === file.name && fileSize === file.bytes.length).length;
	const expected = existingFiles === 'replace' ? 1 : same(filesOf(record)) + 1;
	if (succeeded.length === 1 && same(there) !== expected) return ['an upload is reported as done, but the file is not stored'];
	const isRefused = failed.length === 1 && outcomeOf(failed[0]!) === 'failed';
	return isRefused && there.length !== filesOf(record).length ? ['an upload is reported as failed, but the file is stored'] : [];
}

async function download(worker: LoadWorker): Promise<string[]> {
	const record = (await worker.storedRecords()).find((entry) => filesOf(entry).length > 0);
	if (!record) return [];
	const parameters = { recordId: record.id, fileField: 'papers', outputField: 'data' };
	const { succeeded } = await worker.run('attachment', 'download', parameters);
	const wrong: string[] = [];
	for (const item of succeeded) {
		for (const binary of Object.values(item.binary ?? {})) {
			const sent = FILES.find(({ name }) => name === binary.fileName);
			const bytes = await worker.contentOf(binary);
			if (!sent?.bytes.equals(bytes)) wrong.push(`${binary.fileName} came back as another file`);
		}
	}
	return wrong;
}

async function removeFiles(worker: LoadWorker): Promise<string[]> {
	const record = (await worker.storedRecords()).find((entry) => filesOf(entry).length > 0);
	if (!record) return [];
	const parameters = { recordId: record.id, fileField: 'papers', removeMode: 'all' };
	const { succeeded } = await worker.run('attachment', 'remove', parameters);
	const left = filesOf((await worker.storedRecords()).find(({ id }) => id === record.id));
	return succeeded.length === 1 && left.length > 0 ? ['files are reported as removed, but are still stored'] : [];
}

async function startWorkflow(worker: LoadWorker): Promise<string[]> {
	const call = worker.freshKey();
	const { succeeded, failed } = await worker.run('workflow', 'trigger', { webhookUrl: worker.webhookUrl }, items([{ call }]));
	const starts = await worker.countStarts(call);
	const [output, error] = [succeeded[0], failed[0]];
	if (output && (output.json.body as IDataObject).echo !== call) return ["the response is another request's"];
	if (output ? starts !== 1 : starts > 1) return [`one request started ${starts} runs`];
	const isRefused = error !== undefined && outcomeOf(error) === 'failed';
	return isRefused && starts > 0 ? ['a request is reported as failed, but started a run'] : [];
}

export const WORKLOADS: readonly Workload[] = [
	{ name: 'Create or Update', weight: 8, run: many('upsert', chosen) },
	{ name: 'Create', weight: 2, run: many('create', fresh) },
	{ name: 'Get Many', weight: 6, run: readAll },
	{ name: 'Get', weight: 4, run: readOne },
	{ name: 'Create one', weight: 3, run: one('create') },
	{ name: 'Create or Update one', weight: 3, run: one('upsert') },
	{ name: 'Update one', weight: 4, run: one('update') },
	{ name: 'Count', weight: 2, run: countAll },
	{ name: 'Delete', weight: 3, run: deleteOne },
	{ name: 'Delete Many', weight: 2, run: deleteSome },
	{ name: 'Upload', weight: 3, run: upload },
	{ name: 'Download', weight: 3, run: download },
	{ name: 'Remove', weight: 1, run: removeFiles },
	{ name: 'Trigger a workflow', weight: 2, run: startWorkflow },
	{
		name: 'Poll',
		weight: 4,
		run: async (worker, count) => {
			const wrong = await worker.poll();
			if (!wrong) count('polls failed');
			return wrong ?? [];
		},
	},
];
