/**
 * Rehearses docs/development/video.md: follows its lists in n8n's editor, and writes a picture after each step, and an
 * animation of all, into .cache/rehearsal/. It fails if n8n shows something else.
 *
 *   node test/e2e/browser/rehearsal.mts
 */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { listExamples, N8N_ADDRESS, readExample } from '../../../harness/examples.mts';
import { ensureN8n } from '../../../harness/install.mts';
import { ROOT } from '../../../harness/nodePackage.mts';
import { findFreePort, startProcess } from '../../../harness/processes.mts';
import { openBrowser, openPage } from './chromium.mts';
import { blocksOf, readSteps, type Step, stepsOf } from './instructions.mts';
import { Newcomer } from './newcomer.mts';

const FOLDER = join(ROOT, '.cache', 'rehearsal');
/** How long the animation shows each picture. */
const SHOWN_MS = 1_500;

const script = await readFile(join(ROOT, 'docs/development/video.md'), 'utf8');
const scenes = script.split('\n## ').slice(1);

await ensureN8n();
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const ports = [await findFreePort(), await findFreePort()];
const started = startProcess(process.execPath, ['harness/start.mts', `--port=${ports[0]}`, `--sandbox-port=${ports[1]}`], { cwd: ROOT });
const links = await new Promise<string[]>((resolve, reject) => {
	started.onLine((line) => {
		if (line.startsWith('Ctrl-C'))
			resolve(
				[
					...started
						.output()
						.split('Open the editor.')
						.at(-1)!
						.matchAll(/http:\S+/g),
				].map(([url]) => url),
			);
	});
	void started.exited.then(() => reject(new Error(`npm start ended:\n${started.output()}`)));
});
const [signIn = '', list = '', sandbox = ''] = links;
const n8n = new URL(list).origin;

const browser = await openBrowser();
const { page, errors } = await openPage(browser);
page.setDefaultTimeout(60_000);
const newcomer = new Newcomer(page, (url) => url.replace('https://platform.example.com', sandbox).replace(N8N_ADDRESS, n8n));
const files: string[] = [];

async function follow(step: Step): Promise<void> {
	await newcomer.follow(step);
	const file = join(FOLDER, `${String(files.length + 1).padStart(2, '0')}.png`);
	await page.screenshot({ path: file });
	files.push(file);
}

/** An example that a scene names: its own notes are followed. */
async function openExample(name: string): Promise<Step[]> {
	const examples = await Promise.all((await listExamples()).map(async (file) => await readExample(file)));
	const example = examples.find((each) => each.name === name);
	if (!example) throw new Error(`No example is called "${name}"`);
	const id = await page.evaluate(async (wanted) => {
		const headers = { 'browser-id': localStorage.getItem('n8n-browserId') ?? '' };
		const { data } = (await (await fetch('/rest/workflows?take=100', { headers })).json()) as { data: Array<{ id: string; name: string }> };
		return data.find((each) => each.name === wanted)?.id;
	}, name);
	await newcomer.openWorkflow(`${n8n}/workflow/${id}`, name);
	const notes = example.nodes.filter(({ type }) => type.endsWith('.stickyNote')).map(({ parameters }) => String(parameters.content));
	return readSteps(notes.join('\n\n'));
}

try {
	await page.goto(signIn);
	await page.getByTestId('node-creator-plus-button').waitFor();
	for (const scene of scenes) {
		const begun = Date.now();
		for (const block of blocksOf(scene.split('\n').slice(1).join('\n'))) {
			const example = /^`([^`]+)`$/.exec(block)?.[1];
			for (const step of example ? await openExample(example) : stepsOf(block)) await follow(step);
		}
		await newcomer.comeBack();
		console.log(`${scene.split('\n', 1)[0]!}: ${Math.round((Date.now() - begun) / 1000)} s, ${files.length} pictures so far`);
	}
	if (errors.length > 0) throw new Error(`The page had errors: ${errors.join('; ')}`);
} finally {
	await page.screenshot({ path: join(FOLDER, 'last.png') });
	await browser.close();
	await started.stop();
}
const pictures = await Promise.all(files.map(async (file) => await sharp(file).resize(900).toBuffer()));
await sharp(pictures, { join: { animated: true } })
	.webp({ delay: files.map(() => SHOWN_MS), loop: 0, quality: 70 })
	.toFile(join(FOLDER, 'video.webp'));
console.log(`${files.length} pictures in ${FOLDER}`);
