/** Many records that are written to a stub, and what it receives. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { writeMany, WriteSession, type Write } from '../../nodes/DataPlatform/bulk/send/write.ts';
import type { ApiClient } from '../../nodes/DataPlatform/transport/client.ts';
import { people } from './fixtures.cts';
import { fakePlatform, httpResponse, type Serve } from './stubPlatform.cts';
import type { Entry, ItemOutcome, Task } from '../../nodes/DataPlatform/bulk/terms.ts';

/** When every record of the stub was created and modified. */
export const TIME = '2026-01-01T00:00:00Z';

type SentRecord = { id?: string; fields: { email: string; surname?: string } };

export const isWrite = ({ url }: IHttpRequestOptions) => url.includes('/data/bulk');
export const entriesOf = ({ body }: IHttpRequestOptions) => (JSON.parse(String(body)) as { bulk: SentRecord[] }).bulk;

/** What a response says of a batch of which everything is written. */
export const writtenData = (request: IHttpRequestOptions) =>
	entriesOf(request).map(({ id, fields }) => ({ id: id ?? `id-${fields.email}`, created: TIME, modified: TIME, ver: 0 }));
export const written = (request: IHttpRequestOptions) => httpResponse(200, { data: writtenData(request) });
export const nothingFound = () => httpResponse(200, { data: [] });

export const records = (count: number): Entry[] =>
	Array.from({ length: count }, (_, index) => ({ index, key: `k${index}`, fields: { email: `k${index}`, surname: 'Fox' } }));

const TASK: Task = { mode: 'upsert', batchSize: 0, parallelRequests: 0, skipUnchanged: false, dryRun: false, stopAtFailure: false };

/** A write to a table of people. */
export function writeTo(client: ApiClient, options: Partial<Task> = {}, table = people): Write {
	const task = { ...TASK, ...options };
	return { target: { client, at: { table: 'people' }, table }, task, session: new WriteSession(task) };
}

interface Setup {
	planned: Entry[];
	serve: Serve;
	options?: Partial<Task>;
	table?: typeof people;
	/** Time for retries; none by default. */
	retryBudgetMs?: number;
	skipAudit?: boolean;
}

/** Writes records to a stub; what was sent, and the outcome of each record. */
export async function writeRecords({ planned, serve, options, table = people, retryBudgetMs = 0, skipAudit }: Setup) {
	let underWay = 0;
	let mostUnderWay = 0;
	const fake = fakePlatform(
		async (request, number) => {
			underWay += 1;
			mostUnderWay = Math.max(mostUnderWay, underWay);
			await new Promise((resolve) => setImmediate(resolve));
			const result = await serve(request, number);
			underWay -= 1;
			return result;
		},
		{ retryBudgetMs, skipAudit },
	);
	const outcomes: ItemOutcome[] = [];
	const write = writeTo(fake.connection, options, table);
	await writeMany(write, planned, ({ index }, outcome) => {
		if (outcomes[index]) throw new Error(`Item ${index} has two outcomes.`);
		outcomes[index] = outcome;
		write.session.note(outcome);
	});
	const { stopped } = write.session;
	const writes = fake.sent.filter(isWrite);
	const batches = writes.map((request) => entriesOf(request).length);
	return { outcomes, stopped, sent: fake.sent, writes, batches, mostUnderWay };
}
