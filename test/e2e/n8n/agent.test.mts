/**
 * The node as a tool of n8n's AI agent. The model is replaced by a fixed one on this machine; the
 * agent, the tools and their `$fromAI` values are n8n's own.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { N8N_VERSION } from '../../../harness/install.mts';
import type { WorkflowNode } from '../../../harness/n8nApi.mts';
import type { StubServer } from '../../support/stubServer.mts';
import { type ModelRequest, type OfferedTool, type ModelReply, startStubChatModel, textOf } from '../../support/stubChatModel.mts';
import { readRecords } from '../../support/apiClient.mts';
import { byId } from '../../support/linearWorkflow.mts';
import { storeCredential } from '../../support/n8n.mts';
import { jsonOf, run } from '../run.mts';
import { useN8n } from '../sharedN8n.mts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOL = 'n8n-nodes-data-platform.dataPlatformTool';

const n8n = await useN8n();
let model: StubServer;
let modelCredential: { id: string; name: string };

/** The model's replies, by the number of tool results so far; it gets those. */
let script: Array<(results: string[]) => ModelReply> = [];
/** The tools in the last request to the model. */
let offered: Record<string, OfferedTool['function']> = {};

function say({ messages, tools = [] }: ModelRequest): ModelReply {
	offered = Object.fromEntries(tools.map(({ function: tool }) => [tool.name, tool]));
	const results = messages.filter(({ role }) => role === 'tool').map(textOf);
	return script[results.length]?.(results) ?? { text: results.at(-1) ?? 'Nothing to do.' };
}

before(async () => {
	model = await startStubChatModel(say);
	const data = { apiKey: 'none', url: `${model.origin}/v1` };
	modelCredential = await storeCredential(n8n.api, { name: 'Fixed model', type: 'openAiApi', data });
});

after(async () => await model?.stop());

/** Runs the example with the model's replies. Returns what the agent finally says. */
async function runAgent(steps: typeof script, change: (node: WorkflowNode) => WorkflowNode = (node) => node): Promise<string> {
	script = steps;
	const example = await n8n.readExample('agent-with-contacts.json');
	const nodes = example.nodes.map((node) =>
		change(node.name === 'Model' ? { ...node, credentials: { openAiApi: modelCredential } } : node),
	);
	const json = { sessionId: 'test', action: 'sendMessage', chatInput: 'Do it.' };
	return String(jsonOf(await run(n8n.api, { ...example, nodes }, 'Chat', [{ json }]), 'Agent')[0]?.output);
}

const contacts = async () => await readRecords(n8n.sandbox, 'crm', 'contacts');

const find = (surname: string) => (): ModelReply => ({ tool: 'Find_contacts', args: { surname } });
const update = (id: string, newsletter: unknown): ModelReply => ({ tool: 'Update_contact', args: { id, newsletter } });

interface AgentContact {
	id: string;
	newsletter: boolean;
}

/** The contacts in the result of a tool. */
const contactsIn = (result = '[]') => JSON.parse(result) as AgentContact[];

test('the example looks a contact up and changes one field of it', async () => {
	const before = await contacts();
	let output = '';
	let chosen: AgentContact | undefined;
	await runAgent([
		find('wren'),
		([result]) => {
			output = result ?? '';
			chosen = contactsIn(result).find(({ newsletter }) => !newsletter);
			return update(chosen?.id ?? 'none', true);
		},
	]);
	assert.equal(contactsIn(output).length, 5);
	assert.ok(output.length < 1_500, `${output.length} characters are too many for five contacts`);

	const changed = (await contacts()).filter(({ id, ver }) => before.find((record) => record.id === id)?.ver !== ver);
	assert.deepEqual(
		changed.map(({ id, fields }) => [id, fields.surname, fields.newsletter]),
		[[chosen?.id, 'Wren', true]],
	);
});

test("the model gets each tool's description and parameters", async () => {
	await runAgent([]);
	const { Find_contacts: finding, Update_contact: updating } = offered;
	assert.match(finding?.description ?? '', /surname.*at most 5/i);
	assert.deepEqual(Object.keys(finding?.parameters.properties ?? {}), ['surname']);
	assert.match(finding?.parameters.properties.surname?.description ?? '', /surname to look for/);
	assert.deepEqual(Object.keys(updating?.parameters.properties ?? {}), ['id', 'newsletter']);
	assert.equal(updating?.parameters.properties.newsletter?.type, 'boolean');
});

test("without words of the user's own, the description is the operation's", async () => {
	await runAgent([], (node) => {
		if (node.type !== TOOL) return node;
		const { descriptionType: _type, toolDescription: _text, ...parameters } = node.parameters;
		return { ...node, parameters };
	});
	const described = Object.values(offered).map(({ description }) => description);
	assert.deepEqual(described.sort(), ['Get many records in Data Platform', 'Update records (bulk update) in Data Platform']);
});

const stopsAtErrors = ({ onError: _onError, ...node }: WorkflowNode): WorkflowNode => node;

/** In n8n 1 a tool that stops at errors stops the agent too. */
const settings = [
	['as the example has it', undefined],
	...(N8N_VERSION.startsWith('1.') ? [] : [['where the tool stops at errors', stopsAtErrors] as const]),
] as const;

for (const [how, change] of settings) {
	test(`a failed tool's error says what to do, ${how}`, async () => {
		const before = await contacts();
		const unknown = '00000000-0000-4000-8000-000000000000';
		assert.match(await runAgent([() => update(unknown, true)], change), /no record with the ID '0{8}.*Check the ID/s);
		assert.match(await runAgent([() => update('', true)], change), /record id is missing.*Give the record's ID/s);
		assert.deepEqual(await contacts(), before);
	});
}

test('nobody found is no failure', async () => {
	assert.match(await runAgent([find('nobody at all')]), /^(""|\[\])$/);
});

test('an agent gets the names of files, not their contents', async () => {
	const records = await contacts();
	const { id } = records[0]!;
	const photo = [{ filename: 'me.png', mimetype: 'image/png', filedata: PIXEL }];
	await n8n.sandbox.client().patch(`/apps/crm/tables/contacts/data/${id}`, { fields: { photo } });
	const get = { operation: 'get', recordId: byId(id) };
	const output = await runAgent([find('')], (node) =>
		node.name === 'Find contacts' ? { ...node, parameters: { ...node.parameters, ...get } } : node,
	);
	const [{ photo: files }] = JSON.parse(output) as [{ photo: object[] }];
	assert.partialDeepStrictEqual(files, [{ fileName: 'me.png', mimetype: 'image/png' }]);
});
