/** A credential whose expressions depend on the item: all items of a run are sent with one. */
import { asItems, runNode, TABLE, type Given } from '../fakeNode.cts';
import { httpResponse } from '../stubPlatform.cts';

const run = async (token: string, tokens: string[], more: Partial<Given> = {}) =>
	await runNode('record: count', {
		parameters: TABLE,
		credential: { token },
		items: asItems(...tokens.map((own) => ({ own }))),
		serve: () => httpResponse(200, { data: { count: 1 } }),
		...more,
	});

test.each<[what: string, token: string, tokens: string[]]>([
	['is the same for all', 'secret-1', ['a', 'b']],
	['has an expression that ignores the item', '={{ "secret-1" }}', ['a', 'b']],
	['has an expression with the same value for all', '={{ $json.own }}', ['a', 'a', 'a']],
	['has an expression, for one item', '={{ $json.own }}', ['a']],
])('a run goes on if the token %s', async (_, token, tokens) => {
	const { json, error } = await run(token, tokens);
	expect(error).toBeUndefined();
	expect(json).toEqual(tokens.map(() => ({ count: 1 })));
});

test('a run with another token for an item sends nothing, and the error names the item and no token', async () => {
	const tokens = ['secret-1', 'secret-1', 'secret-2', 'secret-1'];
	const { error, requests } = await run('={{ $json.own }}', tokens);
	expect(error!.message).toBe('The credential has another token or platform for item 2 than for item 0. Nothing was sent');
	expect(error!.description).toContain("'Loop Over Items' with a batch size of 1");
	expect(`${error!.message} ${error!.description}`).not.toContain('secret');
	expect(requests).toEqual([]);
	const { json } = await run('={{ $json.own }}', tokens, { node: { onError: 'continueRegularOutput' } });
	expect(json.map(({ error: message }) => message)).toEqual(tokens.map(() => error!.message));
});
