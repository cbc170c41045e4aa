/** Trigger and Wait as a tool of an agent: n8n can't make an agent wait. */
import { runNode } from '../fakeNode.cts';
import { httpResponse } from '../stubPlatform.cts';

test('an agent is told that its tool cannot wait, and nothing is sent', async () => {
	const { error, requests } = await runNode('workflow: triggerAndWait', {
		parameters: { webhookUrl: 'https://platform.example.com/hooks/1' },
		node: { type: 'dataPlatformTool' },
		serve: () => httpResponse(200, {}),
	});
	expect(error?.message).toContain("An agent's tool can't wait. Nothing was sent. Use 'Trigger'");
	expect(requests).toEqual([]);
});
