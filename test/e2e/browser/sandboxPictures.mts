/**
 * Takes the docs' pictures of the sandbox's live page:
 *
 *   node test/e2e/browser/sandboxPictures.mts
 */
import { join } from 'node:path';
import { ROOT } from '../../../harness/nodePackage.mts';
import { startSandbox } from '../../../harness/sandboxProcess.mts';
import { openBrowser, openPage } from './chromium.mts';

const sandbox = await startSandbox();
const workflows = await fetch(`${sandbox.baseUrl}/sandbox/workflows`);
const { data } = (await workflows.json()) as { data: Array<{ webhookUrl: string }> };
await fetch(data[0]!.webhookUrl, {
	method: 'POST',
	headers: { authorization: `Bearer ${sandbox.tokens.workflow}`, 'content-type': 'application/json' },
	body: '{"firstname": "Nora", "surname": "Newer", "email": "nora.new@example.com"}',
});
await sandbox.admin.waitUntilIdle();

const browser = await openBrowser();
const { page } = await openPage(browser);
await page.setViewportSize({ width: 1440, height: 720 });
const picture = async (name: string) => await page.screenshot({ path: join(ROOT, 'docs', 'images', `${name}.png`) });

await page.goto(`${sandbox.baseUrl}/#/records/crm/contacts`);
await page.getByText('nora.new@example.com').waitFor();
await picture('sandbox-records');
await page.goto(`${sandbox.baseUrl}/#/runs`);
await page.locator('summary', { hasText: 'Payload' }).click();
await page.getByText('"nora.new@example.com"').first().waitFor();
await picture('sandbox-runs');

await browser.close();
await sandbox.stop();
