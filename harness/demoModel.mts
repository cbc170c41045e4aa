/**
 * A stand-in for a chat model, so that the examples with an agent need no account anywhere. It
 * looks up the last name in the question, and deletes the contact or switches its newsletter on or
 * off, as the question says. To anything else it says what it can do. It responds in the format of
 * OpenAI's chat completions.
 */

interface Message {
	role: string;
	content?: string | Array<{ text?: string }> | null;
}

interface ChatRequest {
	messages?: Message[];
	tools?: Array<{ function?: { name?: string } }>;
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

/** The contacts that a tool returned; none if it returned an error, or a sentence. */
function contactsOf(result: string): Contact[] {
	const found = parse<unknown>(result);
	return (Array.isArray(found) ? found : []).filter((one): one is Contact => Boolean(one?.id));
}

const nameOf = ({ firstname = '', surname = '' }: Contact) => `${firstname} ${surname}`.trim();

const isDeletion = (question: string) => /\bdelete\b/i.test(question);

/** The answer after the tool that changes a contact has returned. */
function sayWhatChanged(question: string, found: Contact | undefined, result: string): string {
	if (isDeletion(question)) {
		const isDone = /"deleted":true/.test(result);
		return isDone ? 'Done: the contact is deleted.' : `Nothing was deleted: ${result}`;
	}
	const [written] = contactsOf(result);
	if (found === undefined || written?.id === undefined) return `That did not work: ${result}`;
	const change = written.newsletter ? 'now gets' : 'no longer gets';
	return `Done: ${nameOf(found)} ${change} the newsletter.`;
}

const REQUESTS =
	'Put Bob Fox on the newsletter. Take Bob Fox off the newsletter. Or, in the example that asks a person first: Delete Dan Owl.';

/** The names in a question. A sentence's first word is one only if another one follows. */
function namesIn(question: string): string[] {
	const names: string[] = question.match(/\p{Lu}\p{Ll}+/gu) ?? [];
	return names.length === 1 && question.trim().startsWith(names[0]!) ? [] : names;
}

/** Decides by the question and the results of the tools so far. */
function decide(question: string, results: string[], hasTool: (name: string) => boolean): Reply {
	const names = namesIn(question);
	const surname = names.at(-1);
	if (surname === undefined || !hasTool('Find_contacts')) {
		return { text: `I am a stand-in, not a model, and can't do that. Ask me: ${REQUESTS}` };
	}
	if (results.length === 0) return { tool: 'Find_contacts', args: { surname } };
	const found = contactsOf(results[0]!);
	const meant = found.filter(({ firstname = '' }) => names.includes(firstname));
	const [contact] = meant;
	const [, result] = results;
	if (result !== undefined) return { text: sayWhatChanged(question, contact, result) };

	if (contact === undefined || meant.length > 1) {
		const others = found.map(nameOf).join(', ');
		return {
			text: others === '' ? `I found nobody named ${surname}.` : `Who is meant: ${others}?`,
		};
	}
	const tool = isDeletion(question) ? 'Delete_contact' : 'Update_contact';
	if (!hasTool(tool) || !/newsletter|subscribe|delete/i.test(question)) {
		return { text: `I found ${nameOf(contact)}, but can't do that. Ask me: ${REQUESTS}` };
	}
	if (isDeletion(question)) {
		// For a tool that a person must approve, n8n expects its parameters next to those of the
		// question.
		const { id } = contact;
		const args = { toolParameters: { id }, hitlParameters: { name: nameOf(contact) } };
		return { tool, args };
	}
	const newsletter = !/\b(off|stop|remove|unsubscribe)\b/i.test(question);
	if (contact.newsletter === newsletter) {
		return { text: `${nameOf(contact)} has that choice already.` };
	}
	return { tool, args: { id: contact.id, newsletter } };
}

let replies = 0;

/** The response to a request for a chat completion. */
export function replyToChat(body: unknown): object {
	const { messages = [], tools = [] } = body as ChatRequest;
	const hasTool = (name: string) => tools.some((tool) => tool.function?.name === name);
	const asked = messages.findLastIndex(({ role }) => role === 'user');
	const results = messages
		.slice(asked)
		.filter(({ role }) => role === 'tool')
		.map(textOf);
	const reply = decide(asked < 0 ? '' : textOf(messages[asked]!), results, hasTool);
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
