/** Starting the platform's workflows, and what their scripts see and may do. */
import type { IDataObject } from 'n8n-workflow';
import type { WorkflowRun } from '../../harness/sandboxAdmin.mts';
import { pairedIndexes, startWorkflow, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const ECHO = 'return svc.workflow.payloadRequest;';

/** Creates a workflow and returns its webhook URL. By default its output is what it got. */
async function workflow(script = ECHO, settings: IDataObject = {}): Promise<string> {
	const { data } = await harness.sandbox.admin.http.post('/workflows', { name: 'Under test', script, response: 'output', ...settings });
	return data.data.webhookUrl as string;
}

const payloads = async () => ((await harness.sandbox.admin.http.get('/runs')).data.data as WorkflowRun[]).map(({ payload }) => payload);

/** Starts the workflow at a URL. */
const startAt = async (webhookUrl: string, run?: Run) => await startWorkflow(harness.credential, webhookUrl, run);

/** Starts a workflow whose output is what it got. */
const start = async (run?: Run) => await startAt(await workflow(), run);

describe('the body', () => {
	test('the body is the input item, once for each item, in order and paired', async () => {
		const url = await workflow('return { hello: svc.workflow.payloadRequest.firstname };');
		const items = ['Ada', 'Bob', 'Cleo'].map((firstname) => ({ firstname, nested: { deep: [1] } }));
		const result = await startAt(url, { items });
		expect(result.error).toBeUndefined();
		expect(result.json()).toEqual([{ body: { hello: 'Ada' } }, { body: { hello: 'Bob' } }, { body: { hello: 'Cleo' } }]);
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
		expect(await payloads()).toEqual(items);
	});

	test.each([
		['text', '{"a": {"b": [1, null, "x"]}}', { a: { b: [1, null, 'x'] } }],
		['an expression', '={{ { from: $json.who } }}', { from: 'Ada' }],
	])('the body is JSON given as %s', async (_form, bodyJson, expected) => {
		const result = await start({ items: [{ who: 'Ada' }], parameters: { bodySource: 'json', bodyJson } });
		expect(result.json()).toEqual([{ body: expected }]);
	});

	test.each([
		['[1, 2]', "'JSON' is a list, not an object"],
		['"text"', "'JSON' is a string, not an object"],
		['5', "'JSON' is a number, not an object"],
		['null', "'JSON' is null, not an object"],
		['{broken', "'JSON' is not valid JSON"],
		['={{ $json.missing }}', "'JSON' is empty"],
		['', "'JSON' is empty"],
		['{"id": 9007199254740993}', '9007199254740993, which would lose digits'],
	])('a JSON body that is %s is rejected, and nothing is sent', async (bodyJson, message) => {
		const { error } = await start({ parameters: { bodySource: 'json', bodyJson } });
		expect(error?.message).toContain(message);
		expect(await payloads()).toEqual([]);
	});

	test.each(['[1, 2]', '5', '{broken'])('a JSON body that is no object is rejected with an example of one: %s', async (bodyJson) => {
		const { error } = await start({ parameters: { bodySource: 'json', bodyJson } });
		expect(error?.description).toContain('{"firstname":"Ada"}');
	});
});

describe('the response', () => {
	test.each([
		['text', 'OK'],
		['empty', null],
	])('the response may be %s', async (response, body) => {
		const result = await startAt(await workflow(ECHO, { response }));
		expect(result.error).toBeUndefined();
		expect(result.json()).toEqual([{ body }]);
	});

	test('the response does not send an item to the error output when it has a key called error', async () => {
		const url = await workflow('return { error: "a word like any other" };');
		const result = await startAt(url, { onError: 'continueErrorOutput' });
		expect(result.json('Data Platform', 0)).toEqual([{ body: { error: 'a word like any other' } }]);
		expect(result.json('Data Platform', 1)).toEqual([]);
	});
});

describe('failures', () => {
	const items = [{ n: 0 }, { n: 1 }, { n: 2 }];
	const script = 'if (svc.workflow.payloadRequest.n === 1) throw new Error("no"); return 1;';

	test('a failure of the middle item stops the node without Continue On Fail', async () => {
		const result = await startAt(await workflow(script), { items });
		expect(result.error?.message).toContain('Unknown whether the workflow started');
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(await payloads()).toHaveLength(2);
	});

	test('a failure of the middle item leaves the others alone with Continue On Fail', async () => {
		const result = await startAt(await workflow(script), { items, onError: 'continueErrorOutput' });
		expect(result.json('Data Platform', 0)).toEqual([{ body: 1 }, { body: 1 }]);
		const failed = result.output('Data Platform', 1);
		expect(failed).toHaveLength(1);
		expect(failed[0]).toMatchObject({ json: { details: { item: 1, outcome: 'unknown', status: 500 } }, pairedItem: { item: 1 } });
		expect(await payloads()).toHaveLength(3);
	});

	test.each([
		['resetAfter', { kind: 'resetAfter' }],
		['a gateway that gives up', { kind: 'html', status: 504, afterWrite: true }],
	])('a start of unknown result is not repeated: %s', async (_name, fault) => {
		await harness.faults({ match: { path: '^/(?!sandbox)' }, fault });
		const result = await start();
		expect(result.error?.message).toContain('Unknown whether the workflow started');
		expect(result.error?.description).toContain("workflow's runs");
		await harness.sandbox.admin.waitUntilIdle();
		expect((await payloads()).length).toBeLessThanOrEqual(1);
		const sent = (await harness.requests()).filter(({ method }) => method === 'POST');
		expect(sent).toHaveLength(1);
	});

	test.each([
		['of another type', 'the types that start workflows', 'short', 'short', '403', /Starting workflows .*'Workflow Execution Token'/],
		['that is not accepted', 'the other kind of token', 'revoked', 'workflow', '401', /personal API token/],
	] as const)('the error of a token %s names %s', async (...[, , token, accessType, httpCode, advice]) => {
		const { error } = await start({ credential: { token: harness.sandbox.tokens[token], accessType } });
		expect(error).toMatchObject({ httpCode, description: expect.stringMatching(advice) });
	});

	test('a start is repeated if the platform asks to wait', async () => {
		await harness.faults({
			match: { path: '/webhooks/' },
			when: { first: 2 },
			fault: { kind: 'status', status: 429, retryAfterSeconds: 0 },
		});
		const result = await start({ items: [{ a: 1 }] });
		expect(result.json()).toEqual([{ body: { a: 1 } }]);
		expect(await payloads()).toHaveLength(1);
	});

	test("a start is not repeated by n8n's Retry On Fail", async () => {
		const result = await startAt(await workflow(script), { items, retry: { maxTries: 3 } });
		expect(result.error?.message).toContain('Unknown whether the workflow started');
		expect(await payloads()).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
	});
});

test.each([
	['={{ null }}', 'it is empty'],
	['={{ "JSON" }}', 'not "JSON"'],
])('a body of %s is an error, and does not send the item', async (bodySource, message) => {
	for (const operation of ['trigger', 'triggerAndWait']) {
		const { error } = await start({ items: [{ secret: 'not to be sent' }], parameters: { operation, bodySource } });
		expect(error?.message).toBe(`'Body' must be one of 'item', 'json', ${message}`);
	}
	expect(await payloads()).toEqual([]);
});

describe('Trigger and Wait', () => {
	const wait = async ({ parameters, ...rest }: Run = {}, url?: string) =>
		await startAt(url ?? (await workflow()), { ...rest, parameters: { operation: 'triggerAndWait', ...parameters } });

	test('the payload holds the resume URL', async () => {
		const { error } = await wait({ items: [{ question: 'Delete?' }] });
		expect(error).toBeUndefined();
		expect(await payloads()).toEqual([{ question: 'Delete?', resumeUrl: expect.stringMatching(/^http/) }]);
	});

	test.each<[what: string, parameters: IDataObject, ms: number]>([
		['a day by default', {}, 86_400_000],
		['minutes', { waitAmount: 2, waitUnit: 'minutes' }, 2 * 60_000],
		['hours', { waitAmount: 2, waitUnit: 'hours' }, 2 * 3_600_000],
		['days', { waitAmount: 2, waitUnit: 'days' }, 2 * 86_400_000],
	])('the execution waits as long as it may: %s', async (_, parameters, ms) => {
		const before = Date.now();
		const { run } = await wait({ parameters });
		const until = run.waitTill!.getTime() - before;
		expect(until).toBeGreaterThanOrEqual(ms);
		expect(until).toBeLessThan(ms + 60_000);
	});

	test.each<[string, Run, RegExp]>([
		['several items', { items: [{}, {}] }, /one workflow at a time, but there are 2 items/],
		['a field of that name', { items: [{ resumeUrl: 'mine' }] }, /The body already has a field 'resumeUrl'/],
		['no time', { parameters: { waitAmount: 0 } }, /'Wait At Most' must be a number at least 0.1/],
		['years', { parameters: { waitAmount: 400, waitUnit: 'days' } }, /from 0.1 to 366, not 400/],
		['no unit', { parameters: { waitUnit: 'weeks' } }, /'Unit' must be/],
	])('%s: an error before anything is sent', async (_, given, message) => {
		const result = await wait(given);
		expect(result.error?.message).toMatch(message);
		expect(result.run.waitTill).toBeFalsy();
		expect(await payloads()).toEqual([]);
	});

	test('the editor is told where the execution can be continued', async () => {
		const { run } = await wait();
		const [payload] = await payloads();
		const [task] = run.data.resultData.runData['Data Platform']!;
		expect(task?.metadata).toMatchObject({ resumeUrl: payload!.resumeUrl });
	});

	test("a start that is unknown is not repeated by n8n's Retry On Fail", async () => {
		const { error, run } = await wait({ retry: { maxTries: 3 } }, await workflow('throw new Error("no")'));
		expect(error?.message).toContain('Unknown whether the workflow started');
		expect(run.waitTill).toBeFalsy();
		expect(await payloads()).toHaveLength(1);
	});

	test("a rejected start is retried by n8n's Retry On Fail, and waited for", async () => {
		await harness.faults({
			match: { path: '/webhooks/' },
			when: { first: 1 },
			fault: { kind: 'status', status: 403, body: { errors: [{}] } },
		});
		const { error, run } = await wait({ retry: { maxTries: 2 } });
		expect(error).toBeUndefined();
		expect(run.waitTill).toBeTruthy();
		expect(await payloads()).toHaveLength(1);
	});

	test('a workflow that does not start is not waited for', async () => {
		const result = await wait({}, `${harness.sandbox.baseUrl}/webhooks/unknown`);
		expect(result.error).toMatchObject({ httpCode: '404' });
		expect(result.run.waitTill).toBeFalsy();
	});
});
