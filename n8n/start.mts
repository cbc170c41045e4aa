/**
 * `npm start`: the sandbox and n8n with the nodes installed, and the main example run twice.
 *
 * `node n8n/start.mts [--once] [--port N] [--sandbox-port N]`
 */

import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import axios from 'axios';
import { readAirports, serveAirports } from './airports.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	listExamples,
	MAIN_EXAMPLE,
	readExample,
	sandboxCredential,
} from './examples.mts';
import { ensureN8n } from './install.mts';
import { buildPackage, installPackage, makeUserFolder, packPackage, startN8n } from './launch.mts';
import { isPortFree } from './processes.mts';
import { type RunningSandbox, startSandbox } from './sandbox.mts';
import {
	type Execution,
	failureOf,
	inventOwner,
	itemsOf,
	type Session,
	signIn,
	withCredential,
} from './session.mts';

const EDITOR_PORT = 5678;
const SANDBOX_PORT = 5999;

const USAGE = `npm start -- [--once] [--port N] [--sandbox-port N]

  --once            end after the example has run; the exit code says whether it succeeded
  --port N          the editor's port (default ${EDITOR_PORT})
  --sandbox-port N  the sandbox's port (default ${SANDBOX_PORT})
`;

/** The steps of the example workflow that this file talks about. */
const TRIGGER = 'Start';
const WRITE = 'Write airports';

interface Settings {
	once: boolean;
	editorPort: number;
	sandboxPort: number;
}

/** What one run of the example did, as n8n tells it. */
interface RunReport {
	items: number;
	inserted: number;
	updated: number;
	unchanged: number;
	failed: number;
	requests: number;
	seconds: number;
}

/** Whether all is done and the editor is only kept open: then Ctrl-C is how to end well. */
let open = false;

/** Whether a signal came, and everything is being stopped. */
let stopping = false;

/** What must be undone at the end, last first. */
const cleanups: Array<() => Promise<void>> = [];

async function cleanUp(): Promise<void> {
	for (const undo of cleanups.splice(0).reverse()) await undo().catch(() => undefined);
}

function say(line = ''): void {
	process.stdout.write(`${line}\n`);
}

function readPort(name: string, text: string | undefined, usual: number): number {
	if (text === undefined) return usual;
	const port = Number(text);
	if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
	throw new Error(`--${name} takes a port number, not "${text}".`);
}

/** What the command line asks for; undefined when it asks for help. */
function readSettings(): Settings | undefined {
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
		editorPort: readPort('port', values.port, EDITOR_PORT),
		sandboxPort: readPort('sandbox-port', values['sandbox-port'], SANDBOX_PORT),
	};
}

/** Ports are looked at before minutes are spent on installing. */
async function checkPorts({ editorPort, sandboxPort }: Settings): Promise<void> {
	const wanted = [
		{ port: editorPort, option: '--port', what: "n8n's editor" },
		{ port: sandboxPort, option: '--sandbox-port', what: 'the sandbox' },
	];
	for (const { port, option, what } of wanted) {
		if (await isPortFree(port)) continue;
		throw new Error(
			`Port ${port} for ${what} is in use. Stop what uses it, or choose another:\n` +
				`npm start -- ${option} ${port + 1}`,
		);
	}
}

/** Does a step and says how long it took. */
async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
	const started = Date.now();
	process.stdout.write(`${title}… `);
	try {
		const result = await work();
		say(`${((Date.now() - started) / 1000).toFixed(1)} s`);
		return result;
	} catch (error) {
		say('failed');
		throw error;
	}
}

/** How many requests the sandbox has got since it started. */
async function countRequests(sandbox: RunningSandbox): Promise<number> {
	const { data } = await axios.get<{ data: unknown[] }>(`${sandbox.baseUrl}/sandbox/requests`);
	return data.data.length;
}

async function countAirports(sandbox: RunningSandbox): Promise<number> {
	const { data } = await axios.get<{ data: { count: number } }>(
		`${sandbox.baseUrl}/api/v2/apps/geo/tables/airports/data/count`,
		{ headers: { Authorization: `Bearer ${sandbox.tokens.role}` } },
	);
	return data.data.count;
}

function reportRun(execution: Execution, requests: number): RunReport {
	const failure = failureOf(execution);
	if (failure !== undefined) throw new Error(`The example failed: ${failure}`);
	const outcomes = itemsOf(execution, WRITE).map(({ json }) => String(json.outcome));
	const count = (...wanted: string[]) => outcomes.filter((one) => wanted.includes(one)).length;
	const [inserted, updated, unchanged] = [count('inserted'), count('updated'), count('unchanged')];
	const [run] = execution.data.resultData.runData[WRITE] ?? [];
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
	session: Session,
	workflowId: string,
	sandbox: RunningSandbox,
): Promise<RunReport> {
	const before = await countRequests(sandbox);
	const execution = await session.runWorkflow(workflowId, TRIGGER);
	return reportRun(execution, (await countRequests(sandbox)) - before);
}

function printTable(rows: readonly RunReport[]): void {
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
	say();
	for (const cells of lines) {
		say(`  ${cells.map((cell, i) => (i === 0 ? cell.padEnd(6) : cell.padStart(11))).join('')}`);
	}
	say();
}

/** Whether both runs did what an upsert must do: everything is there, and there once. */
function isAsExpected(rows: readonly RunReport[], expected: number, stored: number): boolean {
	const [first, second] = rows;
	return (
		first?.inserted === expected &&
		second?.items === expected &&
		second.inserted === 0 &&
		rows.every((row) => row.failed === 0) &&
		stored === expected
	);
}

/** Stores the credential and all examples in n8n; returns the id of the main one. */
async function importExamples(
	session: Session,
	sandbox: RunningSandbox,
	airportsUrl: string,
): Promise<string> {
	const id = await session.createCredential(sandboxCredential(sandbox));
	let main = '';
	for (const name of await listExamples()) {
		const workflow = await readExample(name, airportsUrl);
		const ready = withCredential(workflow, CREDENTIAL_TYPE, { id, name: CREDENTIAL_NAME });
		const workflowId = await session.createWorkflow(ready);
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
	const airports = await serveAirports();
	cleanups.push(airports.stop);
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
	const owner = inventOwner();
	const { session, workflowId } = await step('Owner, credential, examples', async () => {
		const session = await signIn(n8n.url, owner);
		return { session, workflowId: await importExamples(session, sandbox, airports.url) };
	});

	const rows: RunReport[] = [];
	for (const title of ['Running the example', 'Running it again']) {
		rows.push(await step(title, async () => await runExample(session, workflowId, sandbox)));
	}
	const expected = (await readAirports()).trim().split('\n').length - 1;
	const stored = await countAirports(sandbox);
	printTable(rows);
	say(`The sandbox holds ${stored.toLocaleString('en-US')} airports, counted with another client.`);
	const success = isAsExpected(rows, expected, stored);
	if (!success) {
		say(`That is wrong: of ${expected} airports all must be inserted once, then none.`);
	}
	if (settings.once || !success) return success;

	say();
	say(`n8n      ${n8n.url}/workflow/${workflowId}`);
	say(`         sign in as ${owner.email} with the password ${owner.password}`);
	say(`Sandbox  ${sandbox.baseUrl}`);
	say();
	say('Ctrl-C stops both. What you change in this n8n and this sandbox is then gone.');
	open = true;
	const ended = await Promise.race([
		n8n.exited.then(() => ({ name: 'n8n', output: n8n.output() })),
		sandbox.exited.then(() => ({ name: 'The sandbox', output: sandbox.output() })),
	]);
	// At Ctrl-C they end too, but then nobody waits for this any more.
	throw new Error(`${ended.name} ended by itself. It said last:\n${ended.output.slice(-2_000)}`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => {
		// The second time nothing is waited for: leaving kills what is left.
		if (stopping) process.exit(130);
		stopping = true;
		say('\nStopping…');
		void cleanUp().then(() => process.exit(open ? 0 : 130));
	});
}

try {
	const settings = readSettings();
	if (settings === undefined) {
		say(USAGE);
	} else {
		process.exitCode = (await start(settings)) ? 0 : 1;
	}
} catch (error) {
	if (!stopping) {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exitCode = 1;
	}
}
if (!stopping) await cleanUp();
