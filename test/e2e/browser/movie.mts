/**
 * Records the animation for the README from a running `npm start`:
 *
 *   node test/e2e/browser/movie.mts <the link that npm start printed> <the sandbox's URL>
 */

import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { ROOT } from '../../../harness/nodePackage.mts';
import { openBrowser, openPage } from './chromium.mts';

const WIDTH = 900;

const [editorUrl = '', sandboxUrl = ''] = process.argv.slice(2);

interface Frame {
	picture: Buffer;
	/** How long it is shown. */
	ms: number;
}

const frames: Frame[] = [];

async function show(page: Page, ms: number): Promise<void> {
	frames.push({
		picture: await sharp(await page.screenshot())
			.resize(WIDTH)
			.toBuffer(),
		ms,
	});
}

// An empty table, so that the run inserts every row.
await fetch(`${sandboxUrl}/sandbox/reset`, { method: 'POST' });
const browser = await openBrowser();
const { page } = await openPage(browser);
page.setDefaultTimeout(120_000);
await page.goto(editorUrl);
const node = page.locator('[data-test-id="canvas-node"][data-node-name="Write airports"]');
await node.waitFor();
await page.waitForTimeout(2_000);
await show(page, 2_500);
await page.getByTestId('execute-workflow-button').hover();
await show(page, 700);
await page.getByTestId('execute-workflow-button').click();
await page.waitForTimeout(700);
await show(page, 600);
await page.waitForTimeout(900);
await show(page, 600);
await page.getByText('Workflow executed successfully').waitFor();
await show(page, 1_500);
await node.dblclick();
await page.getByTestId('output-panel').getByText('3,376 inserted').first().waitFor();
await page.waitForTimeout(2_000);
await show(page, 3_500);
await page.goto(`${sandboxUrl}/#/records/geo/airports`);
await page.getByRole('table').waitFor();
await page.waitForTimeout(500);
await show(page, 3_000);
await browser.close();

const file = join(ROOT, 'docs', 'images', 'first-workflow.webp');
const { size } = await sharp(
	frames.map(({ picture }) => picture),
	{ join: { animated: true } },
)
	.webp({ delay: frames.map(({ ms }) => ms), loop: 0, quality: 70, effort: 6 })
	.toFile(file);
console.log(`${file}: ${frames.length} pictures, ${Math.round(size / 1024)} KiB`);
