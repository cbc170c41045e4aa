/**
 * A stub of a chat model: it replies what a test prescribes, in the format that n8n's OpenAI node
 * reads. So the agent and its tools really run, and in the same way every time.
 */

import { type StubServer, jsonResponse, startStubServer } from './stubServer.mts';

export interface Message {
	role: 'system' | 'user' | 'assistant' | 'tool';
	content: string | Array<{ text?: string }> | null;
}

/** A tool as n8n describes it to a model. */
export interface OfferedTool {
	type: string;
	function: { name: string; description: string; parameters: { properties: Record<string, { type?: string; description?: string }> } };
}

export interface ModelRequest {
	messages: Message[];
	tools?: OfferedTool[];
}

/** The model's next reply: words, or the tool to call. */
export type ModelReply = { text: string } | { tool: string; args: object };

/** The text of a message. */
export const textOf = ({ content }: Message): string =>
	typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');

let ids = 0;

function completion(modelReply: ModelReply) {
	const id = (ids += 1);
	const message =
		'text' in modelReply
			? { role: 'assistant', content: modelReply.text }
			: {
					role: 'assistant',
					content: null,
					tool_calls: [
						{ id: `call_${id}`, type: 'function', function: { name: modelReply.tool, arguments: JSON.stringify(modelReply.args) } },
					],
				};
	const finish = 'text' in modelReply ? 'stop' : 'tool_calls';
	return {
		id: `completion-${id}`,
		object: 'chat.completion',
		created: 1,
		model: 'fixed',
		choices: [{ index: 0, message, finish_reason: finish }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}

/** @param reply what to say to a conversation so far */
export async function startStubChatModel(reply: (request: ModelRequest) => ModelReply): Promise<StubServer> {
	return await startStubServer(({ method, target, body }) =>
		method === 'POST' && target === '/v1/chat/completions' ? jsonResponse(completion(reply(JSON.parse(body) as ModelRequest))) : undefined,
	);
}
