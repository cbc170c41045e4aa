/** The stand-in for a chat model that answers in the demo (harness/demoModel). */
import { replyToChat } from '../../harness/demoModel.mts';

interface Reply {
	choices: [{ message: { content: string | null; tool_calls?: [{ function: { name: string } }] } }];
}

const BOB = JSON.stringify([{ id: '1', firstname: 'Bob', surname: 'Fox', newsletter: false }]);
const TOOLS = ['Find_contacts', 'Update_contact'];

/** What it replies to a question after its tools have returned something. */
function reply(question: string, results: string[] = [], tools = TOOLS): string {
	const { choices } = replyToChat({
		messages: [
			{ role: 'user', content: 'An earlier question' },
			{ role: 'assistant', content: null },
			{ role: 'user', content: [{ type: 'text', text: question }] },
			...results.flatMap((content) => [
				{ role: 'assistant', content: null },
				{ role: 'tool', content },
			]),
		],
		tools: tools.map((name) => ({ type: 'function', function: { name } })),
	}) as Reply;
	const { content, tool_calls: calls } = choices[0].message;
	return calls ? calls[0].function.name : content!;
}

const CANT = "I am a stand-in, not a model, and can't do that. Ask me:";

describe('the stand-in for a chat model', () => {
	test.each<[question: string, results: string[], answer: string]>([
		['Put Bob Fox on the newsletter.', [], 'Find_contacts'],
		['Put Bob Fox on the newsletter.', [BOB], 'Update_contact'],
		['Put Bob Fox on the newsletter.', [BOB, '[{"id":"1","newsletter":true}]'], 'Done: Bob Fox now gets the newsletter.'],
		['Put Bob Fox on the newsletter.', [BOB, '[{"error":"No"}]'], 'That did not work: [{"error"'],
		['Put Zoe Nobody on the newsletter.', [], 'Find_contacts'],
		// What a tool returns that found nothing, or failed.
		['Put Zoe Nobody on the newsletter.', ['[]'], 'I found nobody named Nobody.'],
		['Put Zoe Nobody on the newsletter.', ['[null]'], 'I found nobody named Nobody.'],
		['Put Zoe Nobody on the newsletter.', ['"nothing"'], 'I found nobody named Nobody.'],
		['Put Zoe Nobody on the newsletter.', ['{"error":"No"}'], 'I found nobody named Nobody.'],
		['Put Zoe Fox on the newsletter.', [BOB], 'Who is meant: Bob Fox?'],
		['Delete all contacts', [], CANT],
		['hello', [], CANT],
		['', [], CANT],
		['Delete Bob Fox.', [BOB], "I found Bob Fox, but can't do that. Ask me:"],
		['How old is Bob Fox?', [BOB], "I found Bob Fox, but can't do that. Ask me:"],
	])('to "%s" after %j', (question, results, answer) => {
		expect(reply(question, results)).toContain(answer);
	});

	test('deletes with the tool for it', () => {
		expect(reply('Delete Bob Fox.', [BOB], ['Find_contacts', 'Delete_contact'])).toBe('Delete_contact');
	});

	test.each([[{}], [{ messages: [] }], [{ messages: [{ role: 'user' }] }]])('has an answer to %j', (body) => {
		expect((replyToChat(body) as Reply).choices[0].message.content).toContain(CANT);
	});
});
