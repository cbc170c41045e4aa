/** The worked examples of the docs, run against the sandbox: what the pages show is what comes back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { picked, type RunResult } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { itemWithFile, read } from './attachmentFixtures.cts';
import { outcomes, useDemoData, where, type Run } from './fixtures.cts';

const demo = useDemoData();

const textOf = (page: string) => readFileSync(join(__dirname, '../../docs', page), 'utf8');

/** The blocks of code of a page, from a heading on. */
function blocksOf(page: string, heading: string): string[] {
	const [, part] = textOf(page).split(`\n${heading}\n`);
	return [...part!.matchAll(/^ *```\w+\n([^]*?)^ *```/gm)].map(([, code]) => code!);
}

const json = (block: string | undefined) => JSON.parse(block!) as IDataObject[];

/** What a page shows of a value: some of its keys; a text that ends in … may be any. */
function shownPart(shown: unknown): unknown {
	if (typeof shown === 'string') return shown.endsWith('…') ? expect.any(String) : shown;
	if (Array.isArray(shown)) return shown.map(shownPart);
	if (shown === null || typeof shown !== 'object') return shown;
	const part = Object.entries(shown).map(([key, value]) => [key, shownPart(value)] as const);
	return expect.objectContaining(Object.fromEntries(part));
}

const run = async (operation: string, table: string, more: Run) =>
	await demo.run(operation, { table, onError: 'continueErrorOutput', ...more });

const outputs = (result: RunResult) => [result.json('Data Platform', 0), result.json('Data Platform', 1)];

test('writing-records.md: the items of the example have the outcomes that the page shows', async () => {
	const [items, written, failed] = blocksOf('writing-records.md', '## An example').map(json);
	const result = await run('upsert', 'deals', { items });
	expect(outputs(result)).toEqual([shownPart(written), [shownPart(failed)]]);
});

test('writing-records.md: the dry run of an insertion and an update returns what the page shows', async () => {
	const [shown] = blocksOf('writing-records.md', '## A dry run').map(json);
	const items = [
		{ number: 'D-004', fee: 330 },
		{ number: 'D-101', title: 'New door' },
	];
	const result = await run('upsert', 'deals', { items, options: { dryRun: true } });
	expect(outputs(result)).toEqual([shownPart(shown), []]);
});

test('files-of-rows.md: the file of the example has the report and the rejected rows that the page shows', async () => {
	const [file, report, rejected] = blocksOf('files-of-rows.md', '## An example');
	const result = await demo.run('importFromFile', { input: await itemWithFile('people.csv', file!) });
	const [item] = result.output('Data Platform');
	expect(item!.json).toEqual(shownPart(json(report)));
	const text = (await read(item, 'rejected')).toString('utf8');
	expect(text.replace('\ufeff', '').replaceAll('\r\n', '\n')).toBe(rejected);
});

test('reading.md: the filter of the page matches nine contacts', async () => {
	const [filterTree] = blocksOf('reading.md', '## Filters');
	const result = await run('count', 'contacts', { parameters: { filterMode: 'json', filterTree } });
	expect(outputs(result)).toEqual([[{ count: 9 }], []]);
});

test('deleting-and-mirroring.md: Delete Many returns what the page shows, in a dry run and in a real one', async () => {
	const [dry, done] = blocksOf('deleting-and-mirroring.md', '## Delete Many').map(json);
	const parameters = where({ field: 'stage', operator: 'is', choice: 'lost' });
	const dryRun = await run('deleteMany', 'deals', { parameters, options: { dryRun: true } });
	expect(outputs(dryRun)).toEqual([[shownPart(dry)], []]);
	const deleted = await run('deleteMany', 'deals', { parameters });
	expect(outputs(deleted)).toEqual([[shownPart(done)], []]);
});

test('deleting-and-mirroring.md: Sync of all items of the example has the outcomes; of two, it fails with the error on the page', async () => {
	const [items] = blocksOf('deleting-and-mirroring.md', '## Sync').map(json);
	const parameters = { missingRecords: 'delete' };
	const incomplete = await run('sync', 'companies', { parameters, items: items!.slice(0, 2) });
	const [failed] = incomplete.json('Data Platform', 1);
	expect(textOf('deleting-and-mirroring.md').replaceAll(/\s+/g, ' ')).toContain(failed!.error);
	const result = await run('sync', 'companies', { parameters, items });
	expect(outcomes(result)).toEqual(['updated', 'unchanged', 'unchanged', 'unchanged', 'inserted', 'deleted']);
});

test('values.md: the page has the remedy of every error about a value', async () => {
	const page = textOf('values.md');
	const values = [{ due: '31.12.1990' }, { fee: '1.234,5' }, { signed: 'yes' }, { channels: 'mail,web' }];
	const items = values.map((value, index) => ({ number: `X-${index}`, title: 'New', ...value }));
	const failed = (await run('create', 'deals', { items })).json('Data Platform', 1);
	const remedies = failed.map(({ error, message }) => /(?:use|give) .*/.exec(`${error}\n${message}`)?.[0]);
	expect(remedies).toHaveLength(values.length);
	expect(remedies.filter((remedy) => !page.includes(remedy!.replace(/\.$/, '').replaceAll('|', '\\|')))).toEqual([]);
});

test('changes.md: the first poll emits nothing, the next the changes that the page shows, once', async () => {
	const shown = json(blocksOf('changes.md', '### The first poll')[0]);
	const place = { application: picked('crm'), table: picked('contacts') };
	const trigger = await watch(demo.credential, { ...place, triggerOn: 'createdOrUpdated', startFrom: 'now' });
	expect(await trigger.poll()).toBeNull();
	await run('upsert', 'contacts', { items: [{ email: 'ivy.finch@example.com', surname: 'Finch' }] });
	await run('upsert', 'contacts', { items: [{ email: 'ann.fox@example.com', age: 50 }] });
	const emitted = await trigger.poll();
	expect(emitted!.map((item) => item.json)).toEqual(shown.map(shownPart));
	expect(await trigger.poll()).toBeNull();
});
