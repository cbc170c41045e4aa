/**
 * `npm start`: starts the sandbox and writes the airports into it, first with n8n's engine, which
 * is a development package. Then it installs n8n if necessary, starts it with the nodes, runs the
 * same example in it and opens the editor.
 *
 *   node harness/start.mts [--once] [--port N] [--sandbox-port N]
 */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DemoServices, readAirportsCsv, startDemoServices } from './demoServices.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	listExamples,
	MAIN_EXAMPLE,
	N8N_ADDRESS,
	PUBLISHED_EXAMPLES,
	readExample,
	sandboxCredential,
	SECOND_EXAMPLE,
	TRIGGER_NODE,
	webhookCredential,
	WRITE_NODE,
} from './examples.mts';
import { ensureN8n } from './install.mts';
import { makeUserFolder, type RunningN8n, startN8n } from './n8nProcess.mts';
import { buildPackage, installPackage, packPackage } from './nodePackage.mts';
import { isPortFree, runCommand } from './processes.mts';
import { formatTable, type RunSummary, summarizeNodeRun, type TableRow } from './runSummary.mts';
import { type RunningSandbox, startSandbox } from './sandboxProcess.mts';
import { startSignInPage } from './signInPage.mts';
import { createOwner, describeFailure, type N8nApi, signIn, withCredential } from './n8nApi.mts';

const EDITOR_PORT = 5678;
const SANDBOX_PORT = 5999;

const USAGE = `npm start -- [--once] [--port N] [--sandbox-port N]

  --once            exit after the example has run; the exit code says whether it succeeded
  --port N          the editor's port (default ${EDITOR_PORT})
  --sandbox-port N  the sandbox's port (default ${SANDBOX_PORT})
`;

interface Settings {
	once: boolean;
	editorPort: number;
	sandboxPort: number;
}

interface FirstRun {
	sandbox: RunningSandbox;
	/** What it did. */
	row: TableRow;
}

interface Editor {
	n8n: RunningN8n;
	n8nApi: N8nApi;
	/** The main example. */
	workflowId: string;
}

/** Whether the example has run and the editor stays open: then Ctrl-C is a normal end. */
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

/** Checks the ports first, before minutes are spent on installing. */
async function checkPorts({ editorPort, sandboxPort }: Settings): Promise<void> {
	const required = [
		{ port: editorPort, option: '--port', program: "n8n's editor" },
		{ port: sandboxPort, option: '--sandbox-port', program: 'the sandbox' },
	];
	for (const { port, option, program } of required) {
		if (await isPortFree(port)) continue;
		throw new Error(
			`Port ${port} for ${program} is in use. Stop the program that uses it, or choose another port:\n` +
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

/** Counts the requests of a run of the example. */
async function withRequests(
	title: string,
	sandbox: RunningSandbox,
	run: () => Promise<RunSummary>,
): Promise<TableRow> {
	const before = await countRequests(sandbox);
	const summary = await run();
	return { title, ...summary, requests: (await countRequests(sandbox)) - before };
}

/** Runs the example's node in n8n's engine, in a process of its own. */
async function runInEngine(sandbox: RunningSandbox): Promise<RunSummary> {
	const { code, stdout, output } = await runCommand(process.execPath, [
		join(import.meta.dirname, 'engine', 'writeAirports.mts'),
		`--base-url=${sandbox.baseUrl}`,
		`--token=${sandbox.tokens.role}`,
	]);
	if (code !== 0) throw new Error(`The airports could not be written:\n${output}`);
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as RunSummary;
}

/** Runs the example in n8n. */
async function runInN8n(n8nApi: N8nApi, workflowId: string): Promise<RunSummary> {
	const execution = await n8nApi.runWorkflow(workflowId, TRIGGER_NODE);
	const failure = describeFailure(execution);
	if (failure !== undefined) throw new Error(`The example failed: ${failure}`);
	return summarizeNodeRun(execution.data.resultData.runData[WRITE_NODE]?.[0]);
}

/** Whether both runs did what an upsert must do: every airport is stored exactly once. */
function isAsExpected(rows: readonly TableRow[], expected: number, stored: number): boolean {
	const [first, second] = rows;
	return (
		first?.inserted === expected &&
		second?.items === expected &&
		second.inserted === 0 &&
		rows.every((row) => row.failed === 0) &&
		stored === expected
	);
}

/** Creates the credentials and all example workflows in n8n; returns the id of the main one. */
async function importExamples(
	n8nApi: N8nApi,
	sandbox: RunningSandbox,
	services: DemoServices,
): Promise<string> {
	const platform = {
		id: await n8nApi.createCredential(sandboxCredential(sandbox)),
		name: CREDENTIAL_NAME,
	};
	const model = await n8nApi.createCredential(services.modelCredential);
	const key = webhookCredential();
	const webhook = { id: await n8nApi.createCredential(key), name: key.name };
	const addresses = { ...services.addresses, [N8N_ADDRESS]: n8nApi.url };
	// n8n lists the newest first: the main example, and what comes next.
	const first = [SECOND_EXAMPLE, MAIN_EXAMPLE];
	const others = (await listExamples()).filter((name) => !first.includes(name));
	let workflowId = '';
	for (const name of [...others.reverse(), ...first]) {
		const example = await readExample(name, addresses);
		const onPlatform = withCredential(example, CREDENTIAL_TYPE, platform);
		const workflow = withCredential(onPlatform, key.type, webhook);
		for (const node of workflow.nodes) {
			if (!node.type.endsWith('.lmChatOpenAi')) continue;
			node.credentials = { openAiApi: { id: model, name: services.modelCredential.name } };
		}
		workflowId = await n8nApi.createWorkflow(workflow);
		if (PUBLISHED_EXAMPLES.includes(name)) await n8nApi.publish(workflowId);
	}
	return workflowId;
}

/** Prints what to do with what is running now. */
function printNextSteps(editorUrl: string, n8nUrl: string, sandbox: RunningSandbox): void {
	print();
	print('Open the editor. This link signs you in:');
	print();
	print(`  ${editorUrl}`);
	print();
	print('The yellow notes there say what to press. All examples are ready to run:');
	print();
	print(`  ${n8nUrl}/home/workflows`);
	print();
	print('Every record and every request, live, and faults to try:');
	print();
	print(`  ${sandbox.baseUrl}`);
	print();
	print('Ctrl-C stops everything and discards what you changed.');
}

/** Builds the package, starts the sandbox and writes the airports in n8n's engine. */
async function runFirst({ sandboxPort }: Settings, expected: number): Promise<FirstRun> {
	const started = Date.now();
	const sandbox = await step('Building the package and starting the sandbox', async () => {
		const [running] = await Promise.all([startSandbox({ port: sandboxPort }), buildPackage()]);
		cleanups.push(running.stop);
		return running;
	});
	const title = `Writing ${expected.toLocaleString('en-US')} airports in n8n's engine`;
	const row = await step(title, async () => {
		return await withRequests('first', sandbox, async () => await runInEngine(sandbox));
	});
	print();
	print(formatTable([row]));
	print();
	print(`See them: ${sandbox.baseUrl}/#/records/geo/airports`);
	print(`First result after ${Math.round((Date.now() - started) / 1000)} s. Next: the editor.`);
	print();
	return { sandbox, row };
}

/** Installs n8n if necessary, starts it with the package, and puts the examples into it. */
async function openEditor(sandbox: RunningSandbox, port: number): Promise<Editor> {
	const folder = await makeUserFolder();
	cleanups.push(async () => await rm(folder, { recursive: true, force: true }));
	await ensureN8n();
	await step('Packing and installing the package as a user does', async () => {
		await installPackage(folder, await packPackage(folder));
	});
	const services = await startDemoServices(sandbox.baseUrl);
	cleanups.push(services.stop);
	const n8n = await step('Starting n8n', async () => {
		const running = await startN8n({ userFolder: folder, port });
		cleanups.push(running.stop);
		return running;
	});
	return await step('Creating the owner, the credentials and the examples', async () => {
		const n8nApi = await signIn(n8n.url, createOwner());
		return { n8n, n8nApi, workflowId: await importExamples(n8nApi, sandbox, services) };
	});
}

/** Hands everything over to the user. Ends only with an error or a signal. */
async function handOver(sandbox: RunningSandbox, { n8n, n8nApi, workflowId }: Editor) {
	await sandbox.admin.reset();
	print('Now the table is empty again, so that your own first run fills it.');
	const workflowUrl = `${n8n.url}/workflow/${workflowId}`;
	const page = await startSignInPage(n8n.url, n8nApi.owner, workflowUrl);
	cleanups.push(page.stop);
	printNextSteps(page.url, n8n.url, sandbox);
	isReady = true;
	const ended = await Promise.race([
		n8n.exited.then(() => ({ name: 'n8n', output: n8n.output() })),
		sandbox.exited.then(() => ({ name: 'The sandbox', output: sandbox.output() })),
	]);
	// They end after Ctrl-C, too; then nothing waits for this.
	throw new Error(
		`${ended.name} stopped unexpectedly. Its last output:\n${ended.output.slice(-2_000)}`,
	);
}

async function start(settings: Settings): Promise<boolean> {
	await checkPorts(settings);
	const expected = (await readAirportsCsv()).trim().split('\n').length - 1;
	const { sandbox, row } = await runFirst(settings, expected);
	const editor = await openEditor(sandbox, settings.editorPort);
	const second = await step('Running the example again, in n8n', async () => {
		const run = async () => await runInN8n(editor.n8nApi, editor.workflowId);
		return await withRequests('second', sandbox, run);
	});

	const rows = [row, second];
	const stored = await countAirports(sandbox);
	print();
	print(formatTable(rows));
	print();
	print(`The sandbox has ${stored.toLocaleString('en-US')} airports, counted through its API.`);
	const success = isAsExpected(rows, expected, stored);
	if (!success) {
		print(`This is wrong: the first run must insert all ${expected} airports, the second none.`);
	}
	if (!settings.once && success) await handOver(sandbox, editor);
	return success;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => {
		// A second signal does not wait: exiting kills what is still running.
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
