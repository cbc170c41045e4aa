import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { variants } from '../../sandbox/state/variants.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';

interface ContractVariant {
	name: string;
	setting: string;
	readings: unknown[];
}

const ROOT = join(__dirname, '..', '..');
const document = parse(readFileSync(join(ROOT, 'contract', 'openapi.yaml'), 'utf8')) as { 'x-variants': ContractVariant[] };
const stated = document['x-variants'];
const played = variants.map(({ name, setting, readings }) => ({ name, setting, readings: readings.map(({ value }) => value) }));

test('the sandbox plays every variant of the contract, and no other', () => {
	expect(played).toEqual(stated);
});

test('docs/sandbox.md has a row for each variant, with its readings', () => {
	const page = readFileSync(join(ROOT, 'docs', 'sandbox.md'), 'utf8');
	const rows = [...page.matchAll(/^\| `(\w+)` +\| [^|]*\| ([^|]*)\|$/gm)].map(([, setting, readings]) => [
		setting,
		[...readings!.matchAll(/`([^`]*)`: /g)].map(([, value]) => value),
	]);
	expect(rows).toEqual(played.map(({ setting, readings }) => [setting, readings.map(String)]));
});

test.each(variants)('$setting: the first reading is the default, and every one can be set', async ({ setting, readings }) => {
	const { admin } = await sharedSandbox();
	await admin.reset();
	const current = async () => ((await admin.http.get('/settings')).data.data as Record<string, unknown>)[setting];
	expect(await current()).toBe(readings[0].value);
	for (const { value } of readings) {
		await admin.settings({ [setting]: value });
		expect(await current()).toBe(value);
	}
	await admin.reset();
});
