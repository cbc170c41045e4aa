/** Trigger and Wait: as a tool of an agent, which n8n can't make wait, and its output. */
import type { IWebhookFunctions } from 'n8n-workflow';
import { resume } from '../../../nodes/DataPlatform/actions/workflow/triggerAndWait.ts';
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

test('the output is what the platform posts', async () => {
	const context = { getBodyData: () => ({ approved: true }) } as unknown as IWebhookFunctions;
	const item = { json: { resumed: true, body: { approved: true } }, pairedItem: { item: 0 } };
	expect(await resume(context)).toEqual({ workflowData: [[item]] });
});

test('a notice says once that a started workflow may still fail, and how to get its result', async () => {
	const { error, hints } = await runNode('workflow: trigger', {
		items: [{ json: {} }, { json: {} }, { json: {} }],
		parameters: { webhookUrl: 'https://platform.example.com/hooks/1' },
		serve: () => httpResponse(200, {}),
	});
	expect(error).toBeUndefined();
	expect(hints.map(({ message }) => message)).toEqual([
		expect.stringMatching(/may still fail: look at the workflow's runs there\. .*'Trigger and Wait'/),
	]);
});
