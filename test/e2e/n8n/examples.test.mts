/**
 * Every example is imported into n8n and run. Other people's services, and the agent's model, are
 * played by this machine; the sandbox is looked at from outside.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	listExamples,
	readExample,
	sandboxCredential,
} from '../../../harness/examples.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import {
	type Execution,
	describeFailure,
	createOwner,
	outputItems,
	type JsonObject,
	type N8nApi,
	signIn,
	withCredential,
	type WorkflowJson,
} from '../../../harness/n8nApi.mts';
import { fileResponse, jsonResponse, startStubServer } from '../../support/stubServer.mts';
import { readRecords } from '../../support/apiClient.mts';

let environment: TestEnvironment;
let n8n: RunningN8n;
let n8nApi: N8nApi;
let credential: { id: string; name: string };

before(async () => {
	environment = await setUpTestEnvironment();
	n8n = await startN8n({ userFolder: environment.userFolder });
	n8nApi = await signIn(n8n.url, createOwner());
	const id = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
	credential = { id, name: CREDENTIAL_NAME };
});

after(async () => {
	await n8n?.stop();
	await environment?.tearDown();
});

/** Asks again and again, for ten seconds at most. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
	for (const end = Date.now() + 10_000; Date.now() < end; await sleep(100)) {
		const answer = await ask();
		if (answer !== undefined) return answer;
	}
	throw new Error('What was waited for did not happen in ten seconds.');
}

/** An example as its file has it, with addresses of this machine in the place of others. */
async function read(name: string, places: Record<string, string> = {}): Promise<WorkflowJson> {
	const workflow = await readExample(name, environment.csvServer.url);
	let text = JSON.stringify(withCredential(workflow, CREDENTIAL_TYPE, credential));
	for (const [from, to] of Object.entries(places)) {
		assert.ok(text.includes(from), `${name} does not mention ${from}`);
		text = text.replaceAll(from, to);
	}
	return JSON.parse(text) as WorkflowJson;
}

async function run(workflow: WorkflowJson, trigger: string): Promise<Execution> {
	const execution = await n8nApi.runWorkflow(await n8nApi.createWorkflow(workflow), trigger);
	assert.equal(describeFailure(execution), undefined);
	return execution;
}

const jsonOf = (execution: Execution, node: string): JsonObject[] =>
	outputItems(execution, node).map(({ json }) => json);

const contacts = async () => await readRecords(environment.sandbox, 'crm', 'contacts');
const deals = async () => await readRecords(environment.sandbox, 'crm', 'deals');

const byEmail = async (email: string) =>
	(await contacts()).find(({ fields }) => fields.email === email);

test('every example is imported, explains itself, holds no secret, and calls no stranger', async () => {
	for (const name of await listExamples()) {
		const workflow = await readExample(name, environment.csvServer.url);
		const notes = workflow.nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		assert.ok(notes.length > 0, `${name} has no note`);
		for (const { credentials } of workflow.nodes) {
			const used = credentials?.[CREDENTIAL_TYPE];
			if (used) assert.deepEqual(used, { id: 'data-platform-demo', name: CREDENTIAL_NAME });
		}
		await n8nApi.createWorkflow(workflow);
		const addresses = JSON.stringify(workflow).match(/https?:\/\/[^\s"'/:]+/g) ?? [];
		for (const address of addresses) {
			assert.match(address, /\/\/(127\.0\.0\.1|localhost|([a-z-]+\.)*example\.com)$/, name);
		}
	}
});

test('CRM sync: both sides end alike, and a second run changes nothing', async () => {
	const [known, other] = await contacts();
	const people: JsonObject[] = [
		// The platform knows her under another name, and wants no newsletter for her.
		{ email: known?.fields.email, first_name: 'Renamed', last_name: "O'Brien", newsletter: 'x' },
		{ email: 'new.person@example.com', first_name: 'New', last_name: 'Person', newsletter: false },
	];
	const crm = await startStubServer(({ method, target, body }) => {
		if (method === 'GET') return jsonResponse(people);
		const sent = JSON.parse(body) as JsonObject;
		const email = decodeURIComponent(target.replace('/people', '').slice(1));
		if (method === 'POST') people.push(sent);
		else Object.assign(people.find((person) => person.email === email)!, sent);
		return jsonResponse({ ok: true });
	});
	try {
		const workflow = await read('crm-sync-both-ways.json', {
			'https://crm.example.com': crm.origin,
		});
		const before = await contacts();
		const first = await run(workflow, 'Every hour');
		const outcomes = jsonOf(first, 'Write contacts').map(({ outcome }) => outcome);
		assert.deepEqual(outcomes, ['updated', 'inserted']);

		const after = await contacts();
		assert.equal(after.length, before.length + 1);
		const renamed = after.find(({ id }) => id === known?.id);
		assert.deepEqual(
			[renamed?.fields.firstname, renamed?.fields.surname, renamed?.fields.age],
			['Renamed', "O'Brien", known?.fields.age],
		);
		assert.deepEqual(
			people.map(({ email }) => email).sort(),
			after.map(({ fields }) => fields.email).sort(),
		);
		for (const { fields } of after) {
			assert.deepEqual(
				people.find(({ email }) => email === fields.email),
				{
					email: fields.email,
					first_name: fields.firstname,
					last_name: fields.surname,
					newsletter: fields.newsletter === true,
				},
			);
		}
		assert.equal(
			after.find(({ id }) => id === other?.id)?.ver,
			other?.ver,
			'a contact that the CRM lacks was written',
		);

		crm.requests.length = 0;
		const second = await run(workflow, 'Every hour');
		const again = jsonOf(second, 'Write contacts').map(({ outcome }) => outcome);
		assert.deepEqual(new Set(again), new Set(['unchanged']));
		assert.deepEqual(
			crm.requests.map(({ method }) => method),
			['GET'],
		);
		assert.deepEqual(await contacts(), after);
	} finally {
		await crm.stop();
	}
});

test('invoices: each lands on its deal, and only once', async () => {
	const bytes = (deal: string) =>
		Buffer.from(`%PDF-1.4 invoice for ${deal} \u0000\u00ff`, 'latin1');
	const numbers = ['D-003', 'D-001', 'D-404'];
	const accounting = await startStubServer(({ target }) => {
		if (target === '/invoices') {
			return jsonResponse(
				numbers.map((deal) => ({ deal, url: `${accounting.origin}/files/${deal}` })),
			);
		}
		const deal = target.replace('/files/', '');
		return fileResponse(`Invoice ${deal}.pdf`, bytes(deal), 'application/pdf');
	});
	try {
		const workflow = await read('invoices-onto-records.json', {
			'https://invoices.example.com': accounting.origin,
		});
		const papers = async () =>
			(await deals())
				.filter(({ fields }) => (fields.papers as unknown[]).length > 0)
				.map(({ fields }) => [fields.number, fields.papers] as [string, JsonObject[]]);

		assert.equal(jsonOf(await run(workflow, 'Every morning'), 'Put invoice on deal').length, 2);
		const stored = await papers();
		assert.deepEqual(
			stored.map(([number, files]) => [number, files.map(({ fileName }) => fileName)]).sort(),
			[
				['D-001', ['Invoice D-001.pdf']],
				['D-003', ['Invoice D-003.pdf']],
			],
		);
		for (const [number, [file]] of stored) {
			const { data } = await axios.get<Buffer>(String(file?.fileUrl), {
				headers: { Authorization: `Bearer ${environment.sandbox.tokens.role}` },
				responseType: 'arraybuffer',
			});
			assert.deepEqual(Buffer.from(data), bytes(number));
		}

		await run(workflow, 'Every morning');
		assert.deepEqual(await papers(), stored);
	} finally {
		await accounting.stop();
	}
});

test('an event from outside starts the workflow of the platform', async () => {
	const workflow = await read('event-starts-a-platform-workflow.json', {
		'http://127.0.0.1:5999': environment.sandbox.baseUrl,
	});
	const id = await n8nApi.createWorkflow(workflow);
	await n8nApi.publish(id);

	const person = { first_name: 'Zoë', last_name: "O'Neil", email: 'zoe@example.com' };
	const send = async () =>
		await axios.post(`${n8n.url}/webhook/signed-up`, person, { validateStatus: () => true });
	// n8n answers before the workflow is active.
	const { status } = await until(async () => {
		const answer = await send();
		return answer.status === 404 ? undefined : answer;
	});
	assert.equal(status, 200);
	// The platform answers before its workflow has run.
	const record = await until(async () => await byEmail(person.email));
	assert.equal(record.fields.firstname, person.first_name);
	assert.equal(record.fields.surname, person.last_name);
	await n8nApi.unpublish(id);
});

test('the nightly summary says what the platform computed', async () => {
	const execution = await run(await read('nightly-summary.json'), 'Every night');
	const [summary] = jsonOf(execution, 'Summary');
	const all = (await deals()).map(({ fields }) => fields);
	const won = all.filter(({ stage }) => stage === 'won').map(({ fee }) => Number(fee));
	const open = all.filter(({ stage }) => stage === 'open').length;
	const sum = won.reduce((total, fee) => total + fee, 0);
	assert.match(String(summary?.subject), /^Deals on \d{4}-\d{2}-\d{2}$/);
	assert.equal(
		summary?.text,
		`${won.length} deals are won, worth ${sum} in fees (${(sum / won.length).toFixed(2)} on average, ` +
			`${Math.max(...won)} at most). ${open} deals are open.`,
	);
});
