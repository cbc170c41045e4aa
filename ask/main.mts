/**
 * Asks a real platform which reading of each variant it is (`x-variants` in contract/openapi.yaml).
 * Its answers are a settings file for the sandbox, which then plays that platform.
 *
 *   PLATFORM_TOKEN=… npm run ask -- --base-url https://platform.example.com [--table APP/TABLE] [--file settings.json]
 *
 * It reads only, unless `--table` names a table: then it makes records there, and deletes them. It
 * prints readings, never values, names or addresses of what it reads.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { variants } from '../sandbox/state/variants.mts';
import { AskClient } from './client.mts';
import { askByReading } from './reading.mts';
import { askByWriting } from './writing.mts';
import { isReading, type Answers } from './answers.mts';

const USAGE = `PLATFORM_TOKEN=… npm run ask -- --base-url URL [--table APP/TABLE] [--file FILE]

  --base-url URL     the platform's address, without /api/v2
  --table APP/TABLE  internal names or IDs: also asks what only a write can tell, with records that it
                     makes in this table and deletes again
  --file FILE        writes the answers as settings for npm run sandbox -- --settings FILE

The token is read from the environment variable PLATFORM_TOKEN.`;

/** Only a limit that is reached would show these. */
const NOT_ASKED = 'not asked: only reaching the limit would tell';

function fail(message: string): never {
	console.error(`${message}\n\n${USAGE}`);
	process.exit(2);
}

function readArguments() {
	try {
		const { values } = parseArgs({
			options: {
				'base-url': { type: 'string' },
				table: { type: 'string' },
				file: { type: 'string' },
			},
		});
		return values;
	} catch (error) {
		return fail((error as Error).message);
	}
}

const { 'base-url': baseUrl, table, file } = readArguments();
const token = process.env.PLATFORM_TOKEN;
if (!baseUrl) fail('--base-url is missing.');
if (!token) fail('PLATFORM_TOKEN is missing or empty.');
if (table && !/^[^/]+\/[^/]+$/.test(table)) fail('--table must be APP/TABLE.');

const answers: Answers = new Map();
const client = new AskClient(baseUrl, token);
try {
	await client.requireAccess();
	await askByReading(client, answers);
	if (table) {
		const [app = '', name = ''] = table.split('/');
		console.log('Making up to 16 records in this table, and deleting them again.');
		console.log('bulkRight shows only with a token whose role may not import.');
		const left = await askByWriting(client, app, name, answers);
		if (left.length > 0)
			console.log(`These records could not be deleted; delete them yourself: ${left.join(', ')}`);
	}
} catch (error) {
	console.error((error as Error).message);
	process.exit(1);
}

const settings: Record<string, unknown> = {};
for (const { setting, name } of variants) {
	const answer = answers.get(setting) ?? {
		unknown: table ? NOT_ASKED : `${NOT_ASKED}, or a write (--table)`,
	};
	if (isReading(answer)) settings[setting] = answer.value;
	console.log(
		`${setting.padEnd(18)} ${isReading(answer) ? JSON.stringify(answer.value) : answer.unknown} · ${name}`,
	);
}
console.log(
	`\n${client.requests} requests. As settings of the sandbox:\n${JSON.stringify(settings)}`,
);
if (file) writeFileSync(file, `${JSON.stringify(settings, null, '\t')}\n`);
