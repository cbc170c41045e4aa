/**
 * `npm start`: starts the sandbox and n8n with the nodes installed, and runs the main example twice.
 *
 *   node harness/start.mts [--once] [--port N] [--sandbox-port N]
 */

import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readAirportsCsv, startCsvServer } from './csvServer.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	listExamples,
	MAIN_EXAMPLE,
	readExample,
	sandboxCredential,
} from './examples.mts';
import { ensureN8n } from './install.mts';
import { makeUserFolder, startN8n } from './n8nProcess.mts';
import { buildPackage, installPackage, packPackage } from './nodePackage.mts';
import { isPortFree } from './processes.mts';
import { type RunningSandbox, startSandbox } from './sandboxProcess.mts';
import {
	type Execution,
	describeFailure,
	createOwner,
	outputItems,
	type N8nApi,
	signIn,
	withCredential,
} from './n8nApi.mts';

const EDITOR_PORT = 5678;
const SANDBOX_PORT = 5999;

const USAGE = `npm start -- [--once] [--port N] [--sandbox-port N]

  --once            exit after the example has run; the exit code says whether it succeeded
  --port N          the editor's port (default ${EDITOR_PORT})
  --sandbox-port N  the sandbox's port (default ${SANDBOX_PORT})
`;

/** Names of nodes in the example workflow. */
const TRIGGER_NODE = 'Start';
const WRITE_NODE = 'Write airports';

interface Settings {
	once: boolean;
	editorPort: number;
	sandboxPort: number;
}

/** What one run of the example did, according to n8n. */
interface RunSummary {
	items: number;
	inserted: number;
	updated: number;
	unchanged: number;
	failed: number;
	requests: number;
	seconds: number;
}

/** Whether the example has run and the editor is kept open: then Ctrl-C is a normal end. */
let isReady = false;

/** Whether a signal was received and everything is being stopped. */
let isStopping = false;

/** What to do at the end, last one first. */
const cleanups: Array<() => Promise<void>> = [];

async function cleanUp(): Promise<void> {
	for (const stop of cleanups.splice(0).reverse()) await stop().catch(() => undefined);
}

function print(line = ''): void {
	process.stdout.write(`${line}\n`);
}

function parsePort(name: string, text: string | undefined, fallback: number): number {
	if (text === undefined) return fallback;
	const port = Number(text);
	if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
	throw new Error(`--${name} must be a port number, not "${text}".`);
}

/** Reads the command line; undefined if it asks for help. */
function parseSettings(): Settings | undefined {
	const { values } = parseArgs({
		options: {
			once: { type: 'boolean', default: false },
			port: { type: 'string' },
			'sandbox-port': { type: 'string' },
			help: { type: 'boolean', short: 'h', default: false },
		},
	});
	if (values.help) return undefined;
	return {
		once: values.once,
		editorPort: parsePort('port', values.port, EDITOR_PORT),
		sandboxPort: parsePort('sandbox-port', values['sandbox-port'], SANDBOX_PORT),
	};
}

/** Fails early: before minutes are spent on installing. */
async function checkPorts({ editorPort, sandboxPort }: Settings): Promise<void> {
	const required = [
		{ port: editorPort, option: '--port', what: "n8n's editor" },
		{ port: sandboxPort, option: '--sandbox-port', what: 'the sandbox' },
	];
	for (const { port, option, what } of required) {
		if (await isPortFree(port)) continue;
		throw new Error(
			`Port ${port} for ${what} is in use. Stop the program that uses it, or choose another port:\n` +
				`npm start -- ${option} ${port + 1}`,
		);
	}
}

/** Runs a step and prints how long it took. */
async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
	const started = Date.now();
	process.stdout.write(`${title}… `);
	try {
		const result = await work();
		print(`${((Date.now() - started) / 1000).toFixed(1)} s`);
		return result;
	} catch (error) {
		print('failed');
		throw error;
	}
}

/** How many requests the sandbox has received since it started. */
async function countRequests(sandbox: RunningSandbox): Promise<number> {
	return (await sandbox.admin.requests()).length;
}

async function countAirports(sandbox: RunningSandbox): Promise<number> {
	const { data } = await sandbox
		.client()
		.get<{ data: { count: number } }>('/apps/geo/tables/airports/data/count');
	return data.data.count;
}

function summarizeRun(execution: Execution, requests: number): RunSummary {
	const failure = describeFailure(execution);
	if (failure !== undefined) throw new Error(`The example failed: ${failure}`);
	const outcomes = outputItems(execution, WRITE_NODE).map(({ json }) => String(json.outcome));
	const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
	const [inserted, updated, unchanged] = [count('inserted'), count('updated'), count('unchanged')];
	const [run] = execution.data.resultData.runData[WRITE_NODE] ?? [];
	return {
		items: outcomes.length,
		inserted,
		updated,
		unchanged,
		failed: outcomes.length - inserted - updated - unchanged,
		requests,
		seconds: (run?.executionTime ?? 0) / 1000,
	};
}

async function runExample(
	n8nApi: N8nApi,
	workflowId: string,
	sandbox: RunningSandbox,
): Promise<RunSummary> {
	const before = await countRequests(sandbox);
	const execution = await n8nApi.runWorkflow(workflowId, TRIGGER_NODE);
	return summarizeRun(execution, (await countRequests(sandbox)) - before);
}

function printTable(rows: readonly RunSummary[]): void {
	const number = (value: number) => value.toLocaleString('en-US');
	const lines = [
		['run', 'items', 'inserted', 'updated', 'unchanged', 'failed', 'requests', 'time'],
		...rows.map((row, index) => [
			index === 0 ? 'first' : 'second',
			number(row.items),
			number(row.inserted),
			number(row.updated),
			number(row.unchanged),
			number(row.failed),
			number(row.requests),
			`${row.seconds.toFixed(1)} s`,
		]),
	];
	print();
	for (const cells of lines) {
		print(`  ${cells.map((cell, i) => (i === 0 ? cell.padEnd(6) : cell.padStart(11))).join('')}`);
	}
	print();
}

/** Whether both runs did what an upsert must do: every airport is stored exactly once. */
function isAsExpected(rows: readonly RunSummary[], expected: number, stored: number): boolean {
	const [first, second] = rows;
	return (
		first?.inserted === expected &&
		second?.items === expected &&
		second.inserted === 0 &&
		rows.every((row) => row.failed === 0) &&
		stored === expected
	);
}

/** Creates the credential and all example workflows in n8n; returns the id of the main one. */
async function importExamples(
	n8nApi: N8nApi,
	sandbox: RunningSandbox,
	csvUrl: string,
): Promise<string> {
	const id = await n8nApi.createCredential(sandboxCredential(sandbox));
	let main = '';
	for (const name of await listExamples()) {
		const workflow = await readExample(name, csvUrl);
		const ready = withCredential(workflow, CREDENTIAL_TYPE, { id, name: CREDENTIAL_NAME });
		const workflowId = await n8nApi.createWorkflow(ready);
		if (name === MAIN_EXAMPLE) main = workflowId;
	}
	return main;
}

async function start(settings: Settings): Promise<boolean> {
	await checkPorts(settings);
	await ensureN8n();
	const folder = await makeUserFolder();
	cleanups.push(async () => await rm(folder, { recursive: true, force: true }));

	await step('Building the package', buildPackage);
	await step('Packing and installing it as a user does', async () => {
		await installPackage(folder, await packPackage(folder));
	});
	const csvServer = await startCsvServer();
	cleanups.push(csvServer.stop);
	const sandbox = await step('Starting the sandbox', async () => {
		const running = await startSandbox({ port: settings.sandboxPort });
		cleanups.push(running.stop);
		return running;
	});
	const n8n = await step('Starting n8n', async () => {
		const running = await startN8n({ userFolder: folder, port: settings.editorPort });
		cleanups.push(running.stop);
		return running;
	});
	const owner = createOwner();
	const { n8nApi, workflowId } = await step('Owner, credential, examples', async () => {
		const n8nApi = await signIn(n8n.url, owner);
		return { n8nApi, workflowId: await importExamples(n8nApi, sandbox, csvServer.url) };
	});

	const rows: RunSummary[] = [];
	for (const title of ['Running the example', 'Running it again']) {
		rows.push(await step(title, async () => await runExample(n8nApi, workflowId, sandbox)));
	}
	const expected = (await readAirportsCsv()).trim().split('\n').length - 1;
	const stored = await countAirports(sandbox);
	printTable(rows);
	print(`The sandbox holds ${stored.toLocaleString('en-US')} airports, counted over its own API.`);
	const success = isAsExpected(rows, expected, stored);
	if (!success) {
		print(`This is wrong: the first run must insert all ${expected} airports, the second none.`);
	}
	if (settings.once || !success) return success;

	print();
	print(`n8n      ${n8n.url}/workflow/${workflowId}`);
	print(`         sign in as ${owner.email} with the password ${owner.password}`);
	print(`Sandbox  ${sandbox.baseUrl}`);
	print();
	print('Ctrl-C stops both and discards everything that you changed in them.');
	isReady = true;
	const ended = await Promise.race([
		n8n.exited.then(() => ({ name: 'n8n', output: n8n.output() })),
		sandbox.exited.then(() => ({ name: 'The sandbox', output: sandbox.output() })),
	]);
	// After Ctrl-C they end too; nothing then waits for this.
	throw new Error(
		`${ended.name} stopped unexpectedly. Its last output:\n${ended.output.slice(-2_000)}`,
	);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => {
		// The second signal does not wait: exiting kills what is still running.
		if (isStopping) process.exit(130);
		isStopping = true;
		print('\nStopping…');
		void cleanUp().then(() => process.exit(isReady ? 0 : 130));
	});
}

try {
	const settings = parseSettings();
	if (settings === undefined) {
		print(USAGE);
	} else {
		process.exitCode = (await start(settings)) ? 0 : 1;
	}
} catch (error) {
	if (!isStopping) {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exitCode = 1;
	}
}
if (!isStopping) await cleanUp();
