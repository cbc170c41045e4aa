import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { generate } from 'selfsigned';
import { openSandbox } from './sandbox.mts';
import { bodyValidator } from './api/validation.mts';
import type { Certificate } from './http/server.mts';
import { variants } from './state/variants.mts';
import { settingsSchema, type Settings } from './state/settings.mts';

const usage = `node sandbox/main.mts [options]

  --port N         the port on 127.0.0.1 (default 5999; with --json a free one)
  --db FILE        keep everything in this file; without it all lives in memory
  --https          with a certificate made at start
  --json           print one line when ready: {"baseUrl", "tokens"}
  --no-seed        start without applications and records
  --settings JSON  settings that differ from their defaults, such as '{"timePrecisionMs": 1000}',
                   or a file with them; docs/sandbox.md has all of them. What is unknown about the
                   platform, the default first:

${variants.map(({ setting, readings }) => `  ${setting.padEnd(18)} ${readings.map(({ value }) => JSON.stringify(value)).join(', ')}`).join('\n')}`;
const defaultPort = 5999;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string' },
			db: { type: 'string', default: ':memory:' },
			https: { type: 'boolean', default: false },
			json: { type: 'boolean', default: false },
			'no-seed': { type: 'boolean', default: false },
			settings: { type: 'string', default: '{}' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(usage);
		return;
	}
	const sandbox = await openSandbox({
		port: values.port === undefined ? (values.json ? 0 : defaultPort) : portFrom(values.port),
		file: values.db,
		seeded: !values['no-seed'],
		https: values.https ? await certificate() : undefined,
		settings: settingsFrom(values.settings),
	});
	const { baseUrl, tokens } = sandbox;
	console.log(
		values.json ? JSON.stringify({ baseUrl, tokens }) : welcome(baseUrl, tokens, values.db),
	);

	let stopping = false;
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.on(signal, () => {
			if (stopping) return;
			stopping = true;
			void sandbox.close().then(() => process.exit(0));
		});
	}
}

function portFrom(text: string): number {
	const port = Number(text);
	if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
	throw new Error(`--port must be a number from 0 to 65535, not '${text}'.`);
}

function settingsFrom(text: string): Partial<Settings> {
	try {
		const json = text.startsWith('{') ? text : readFileSync(text, 'utf8');
		return bodyValidator(settingsSchema)(JSON.parse(json));
	} catch (error) {
		throw new Error(
			`--settings must be a JSON object of settings, or a file with one: ${(error as Error).message}`,
		);
	}
}

async function certificate(): Promise<Certificate> {
	const made = await generate([{ name: 'commonName', value: 'localhost' }], {
		keyType: 'ec',
		algorithm: 'sha256',
		extensions: [
			{ name: 'basicConstraints', cA: true, critical: true },
			{
				name: 'subjectAltName',
				altNames: [
					{ type: 2, value: 'localhost' },
					{ type: 7, ip: '127.0.0.1' },
				],
			},
		],
	});
	return { key: made.private, cert: made.cert };
}

function welcome(baseUrl: string, tokens: Record<string, string>, file: string): string {
	const lines = Object.entries(tokens).map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
	return [
		`The sandbox is ready.`,
		``,
		`Base URL        ${baseUrl}`,
		`Live page       ${baseUrl}/`,
		`Records         ${baseUrl}/api/v2/apps/crm/tables/contacts/data`,
		`Administration  ${baseUrl}/sandbox/health (docs/sandbox.md)`,
		`Data            ${file === ':memory:' ? 'in memory' : file}`,
		``,
		`Demo tokens`,
		...lines,
		``,
		`Ctrl-C stops it.`,
	].join('\n');
}

try {
	await main();
} catch (error) {
	const { code, message } = error as { code?: string; message: string };
	const taken = code === 'EADDRINUSE';
	console.error(taken ? `${message}: choose another port with --port N.` : message);
	if (code?.startsWith('ERR_PARSE_ARGS')) console.error(`\n${usage}`);
	process.exit(1);
}
