/** The package in n8n as its command line runs it: import credential and workflow, execute. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readAirportsCsv } from '../../../harness/demoServices.mts';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, MAIN_EXAMPLE, readExample, sandboxCredential } from '../../../harness/examples.mts';
import { runN8nCommand } from '../../../harness/n8nProcess.mts';
import { outputItems, type ResultData, withCredential } from '../../../harness/n8nApi.mts';
import { readRecords } from '../../support/apiClient.mts';

const CREDENTIAL_ID = 'platformDemo';
const WORKFLOW_ID = 'airports';

let environment: TestEnvironment;

before(async () => {
	environment = await setUpTestEnvironment();
});

after(async () => {
	await environment.tearDown();
});

async function importFile(command: string, content: unknown): Promise<void> {
	const file = join(environment.userFolder, 'import.json');
	await writeFile(file, JSON.stringify(content));
	await runN8nCommand(environment.userFolder, [command, `--input=${file}`]);
}

/** Runs the imported workflow and returns the outcomes of its items. */
async function execute(): Promise<unknown[]> {
	const { stdout } = await runN8nCommand(environment.userFolder, ['execute', `--id=${WORKFLOW_ID}`, '--rawOutput']);
	// n8n writes a line about its task runner before the result, raw output or not.
	const json = stdout.slice(stdout.search(/^\{/m));
	const execution = JSON.parse(json) as { data: { resultData: ResultData } };
	return outputItems(execution, 'Write airports').map((item) => item.json.outcome);
}

test('credential and example are imported', async () => {
	const workflow = await readExample(MAIN_EXAMPLE, environment.services.addresses);
	const credential = { id: CREDENTIAL_ID, ...sandboxCredential(environment.sandbox) };
	await importFile('import:credentials', [credential]);
	const reference = { id: CREDENTIAL_ID, name: CREDENTIAL_NAME };
	await importFile('import:workflow', {
		...withCredential(workflow, CREDENTIAL_TYPE, reference),
		id: WORKFLOW_ID,
		// Early releases of n8n 1.123 require it, as in their own exports.
		versionId: randomUUID(),
		active: false,
	});
});

test('they run, and every airport is inserted', async () => {
	const [header, ...rows] = (await readAirportsCsv()).trim().split('\n');
	assert.equal(header, 'iata,name,city,state,country,latitude,longitude');
	assert.deepEqual(await execute(), Array(3_376).fill('inserted'));

	const records = await readRecords(environment.sandbox, 'geo', 'airports');
	const stored = records.map(({ fields }) => fields.iata).sort();
	assert.deepEqual(stored, rows.map((row) => row.split(',', 1)[0]).sort());
	const juneau = records.find(({ fields }) => fields.iata === 'JNU');
	assert.deepEqual(juneau?.fields, {
		iata: 'JNU',
		name: 'Juneau International',
		city: 'Juneau',
		state: 'AK',
		country: 'USA',
		latitude: 58.35496194,
		longitude: -134.5762764,
	});
});
