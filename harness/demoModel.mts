/**
 * A stand-in for a chat model, so that the examples with an agent need no account anywhere. It
 * looks up the last capitalized word of the question, and deletes the contact or switches its
 * newsletter on or off, as the question says. It responds in the format of OpenAI's chat
 * completions.
 */

interface Message {
	role: string;
	content: string | Array<{ text?: string }> | null;
}

interface ChatRequest {
	messages: Message[];
}

interface Contact {
	id: string;
	firstname?: string;
	surname?: string;
	newsletter?: boolean;
}

type Reply = { text: string } | { tool: string; args: object };

const textOf = ({ content }: Message): string =>
	typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');

function parse<T>(text: string): T | undefined {
	try {
		return JSON.parse(text) as T;
	} catch {
		return undefined;
	}
}

const isDeletion = (question: string) => /\bdelete\b/i.test(question);

/** The answer after the tool that changes a contact has returned. */
function sayWhatChanged(question: string, result: string): string {
	if (isDeletion(question)) {
		const isDone = /"deleted":true/.test(result);
		return isDone ? 'Done: the contact is deleted.' : `Nothing was deleted: ${result}`;
	}
	const [contact] = parse<Contact[]>(result) ?? [];
	if (contact === undefined) return `That did not work: ${result}`;
	const change = contact.newsletter ? 'now gets' : 'no longer gets';
	return `Done: ${contact.firstname} ${contact.surname} ${change} the newsletter.`;
}

/** Decides by the question and the results of the tools so far. */
function decide(question: string, results: string[]): Reply {
	const words: string[] = question.match(/\p{Lu}\p{Ll}+/gu) ?? [];
	const surname = words.at(-1);
	if (surname === undefined) {
		const requests = 'Put Bob Fox on the newsletter. Or, with the tool for it: Delete Dan Owl.';
		return { text: `I am a stand-in, not a model. Ask me: ${requests}` };
	}
	if (results.length === 0) return { tool: 'Find_contacts', args: { surname } };
	if (results.length > 1) return { text: sayWhatChanged(question, results[1] ?? '') };

	const found = parse<Contact[]>(results[0] ?? '') ?? [];
	const meant = found.filter(
		({ firstname }) => firstname !== undefined && words.includes(firstname),
	);
	const [contact] = meant;
	if (contact === undefined || meant.length > 1) {
		const names = found.map((one) => `${one.firstname} ${one.surname}`).join(', ');
		return { text: names === '' ? `I found nobody named ${surname}.` : `Who is meant: ${names}?` };
	}
	if (isDeletion(question)) {
		// For a tool that a person must approve, n8n expects its parameters next to those of the
		// question.
		const { id, firstname, surname: last } = contact;
		const args = { toolParameters: { id }, hitlParameters: { name: `${firstname} ${last}` } };
		return { tool: 'Delete_contact', args };
	}
	const newsletter = !/\b(off|stop|remove|unsubscribe)\b/i.test(question);
	if (contact.newsletter === newsletter) {
		return { text: `${contact.firstname} ${contact.surname} has that choice already.` };
	}
	return { tool: 'Update_contact', args: { id: contact.id, newsletter } };
}

let replies = 0;

/** The response to a request for a chat completion. */
export function replyToChat(body: unknown): object {
	const { messages } = body as ChatRequest;
	const asked = messages.findLastIndex(({ role }) => role === 'user');
	const results = messages
		.slice(asked)
		.filter(({ role }) => role === 'tool')
		.map(textOf);
	const reply = decide(asked < 0 ? '' : textOf(messages[asked]!), results);
	replies += 1;
	const message =
		'text' in reply
			? { role: 'assistant', content: reply.text }
			: {
					role: 'assistant',
					content: null,
					tool_calls: [
						{
							id: `call_${replies}`,
							type: 'function',
							function: { name: reply.tool, arguments: JSON.stringify(reply.args) },
						},
					],
				};
	return {
		id: `completion-${replies}`,
		object: 'chat.completion',
		created: Math.floor(Date.now() / 1000),
		model: 'stand-in',
		choices: [{ index: 0, message, finish_reason: 'text' in reply ? 'stop' : 'tool_calls' }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}
