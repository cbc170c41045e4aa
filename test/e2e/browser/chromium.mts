/** A real browser that connects only to this machine. */

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Request, selectors } from 'playwright-core';
import { ROOT } from '../../../harness/nodePackage.mts';

const USUAL_PLACES = [
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Chromium.app/Contents/MacOS/Chromium',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const VIEWPORT = { width: 1280, height: 860 };

function findBrowser(): string {
	const places = [process.env.CHROMIUM ?? '', ...USUAL_PLACES];
	const found = places.find((place) => place !== '' && existsSync(place));
	if (found !== undefined) return found;
	throw new Error(
		'No Chromium was found. Install one (Debian: apt-get install --no-install-recommends ' +
			'chromium), or say where it is: CHROMIUM=/path/to/chromium npm run test:e2e',
	);
}

/** Starts the machine's Chromium without a window. It reaches no other machine. */
export async function openBrowser(): Promise<Browser> {
	return await chromium.launch({
		executablePath: findBrowser(),
		args: [
			// Containers run as root, where Chromium's sandbox does not work.
			'--no-sandbox',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
			'--no-first-run',
			// It reaches no other machine. Interception of its requests would switch off its cache.
			'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
		],
	});
}

/** The requests under way of a context's pages. */
const openRequests = new WeakMap<BrowserContext, Set<Request>>();

/** What n8n's own page throws, whatever nodes are in it, if a workflow is left while its panel is still closing. */
const N8N_OWN_ERROR = /^injectNDVStore\(\) was accessed without an active workflow document store/;

export interface WatchedPage {
	page: Page;
	/** Script errors so far, including those of pages that it opened. */
	errors: string[];
}

/** A page whose errors are collected, like those of the pages that it opens. */
export async function openPage(browser: Browser): Promise<WatchedPage> {
	// n8n marks the elements for tests with its own attribute.
	selectors.setTestIdAttribute('data-test-id');
	// A click waits until nothing moves.
	const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce' });
	// For what n8n shows on a slow machine, also in pages that this one opens.
	context.setDefaultTimeout(180_000);
	const errors: string[] = [];
	context.on('weberror', (error) => {
		const { message } = error.error();
		if (!N8N_OWN_ERROR.test(message)) errors.push(message);
	});
	const open = new Set<Request>();
	openRequests.set(context, open);
	context.on('request', (request) => /^(fetch|xhr)$/.test(request.resourceType()) && open.add(request));
	context.on('requestfinished', (request) => open.delete(request));
	context.on('requestfailed', (request) => open.delete(request));
	return { page: await context.newPage(), errors };
}

/** A page that was left may never say that its requests ended, and some requests are held by their server. */
const MOST_ROUNDS = 20;

/**
 * Waits until a page is through with what was done, or for ten seconds. n8n applies an input some hundred milliseconds
 * later, and may then load what depends on it. The timer is the page's own, so the page's other timers are not later
 * than it because the machine is slow.
 */
export async function settle(page: Page): Promise<void> {
	const open = openRequests.get(page.context())!;
	for (let round = 0; round === 0 || (open.size > 0 && round < MOST_ROUNDS); round += 1) {
		const idle = () => new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve, { timeout: 5_000 }), 500));
		// Another page may come in its place.
		await page.evaluate(idle).catch(() => undefined);
	}
	open.clear();
}

/** Opens a workflow: the editor is loaded for the first one, and then goes to others as by its own links. */
export async function goToWorkflow(page: Page, url: string, name: string): Promise<void> {
	const { origin, pathname } = new URL(url);
	if (new URL(page.url()).origin === origin) {
		// What is still at work in the panel fails if its workflow is gone.
		await settle(page);
		await page.evaluate((path) => {
			history.pushState(null, '', path);
			dispatchEvent(new PopStateEvent('popstate', { state: null }));
		}, pathname);
	} else {
		await page.goto(url);
	}
	await page.waitForFunction((text) => document.title.includes(text), name);
	await page.getByTestId('canvas-node').first().waitFor();
}

async function savePicture(page: Page, folder: string, name: string): Promise<void> {
	const path = join(ROOT, folder, `${name}.png`);
	await mkdir(dirname(path), { recursive: true });
	await page.screenshot({ path });
}

/** Takes a picture for the docs when UPDATE_SCREENSHOTS is set: it differs with every run. */
export async function takePicture(page: Page, name: string): Promise<void> {
	if (process.env.UPDATE_SCREENSHOTS) await savePicture(page, 'docs/images', name);
}

/** Saves the current view, to look at if a test fails. */
export async function keepLastView(page: Page): Promise<void> {
	await savePicture(page, '.cache/browser', 'last');
}
