import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { ApiRequest } from '../api/request.mts';
import type { Json, JsonObject, Run, Token, Workflow } from '../state/model.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { actingToken } from './runAs.mts';
import { scriptServices } from './service.mts';

type Message =
	| { kind: 'log'; line: string }
	| { kind: 'call'; id: number; name: string; args: Json[] }
	| { kind: 'done'; output?: Json }
	| { kind: 'failed'; error: string };

const memoryMb = 64;
const maxLogLines = 1000;
const maxRuns = 500;

/** Starts a workflow for a webhook request; `ended` resolves when its run ends. */
export function startRun(
	request: ApiRequest,
	workflow: Workflow,
): { run: Run; ended: Promise<Run> } {
	const { state } = request;
	const run: Run = {
		id: randomUUID(),
		workflowId: workflow.id,
		request: request.number,
		startedAt: new Date().toISOString(),
		durationMs: null,
		status: 'running',
		actedAs: '',
		payload: request.body as Json,
		output: null,
		log: [],
		error: null,
	};
	store(state, run);
	let actor: Token;
	try {
		actor = actingToken(request, workflow, run);
	} catch (error) {
		return { run, ended: Promise.resolve(end(state, run, 'failed', messageOf(error))) };
	}
	return { run, ended: runScript(request, workflow, run, actor) };
}

/** Runs the script in a worker, with a time limit that also stops infinite loops. */
async function runScript(
	request: ApiRequest,
	workflow: Workflow,
	run: Run,
	actor: Token,
): Promise<Run> {
	const { state } = request;
	const service = scriptServices(request, actor);
	const { id, name } = workflow;
	const worker = new Worker(new URL('./worker.mts', import.meta.url), {
		workerData: {
			script: workflow.script,
			workflow: JSON.stringify({ id, name, runId: run.id, payloadRequest: run.payload }),
		},
		env: {},
		// For `importModuleDynamically`.
		execArgv: ['--experimental-vm-modules'],
		stdout: true,
		stderr: true,
		resourceLimits: { maxOldGenerationSizeMb: memoryMb },
	});
	state.runningWorkers.add(worker);
	const ended = await new Promise<Run>((resolve) => {
		const finish = (status: Run['status'], error: string | null) =>
			resolve(end(state, run, status, error));
		const limit = setTimeout(
			() => finish('timedOut', `The script took more than ${workflow.timeLimitMs} ms.`),
			workflow.timeLimitMs,
		);
		worker.once('exit', () => {
			clearTimeout(limit);
			finish('failed', 'The script ended without a result.');
		});
		worker.on('error', (error) => finish('failed', messageOf(error)));
		worker.on('message', (text: string) => {
			const message = JSON.parse(text) as Message;
			if (message.kind === 'log') run.log = [...run.log, message.line].slice(-maxLogLines);
			if (message.kind === 'done') {
				// A `toJSON` without a value leaves it out.
				run.output = message.output ?? null;
				finish('succeeded', null);
			}
			if (message.kind === 'failed') finish('failed', message.error);
			if (message.kind === 'call') {
				// A run that has ended has no access any more, even if its script still runs.
				if (run.status !== 'running' || !state.runs.get(run.id)) return;
				void service(message.name, message.args).then(
					(value) => worker.postMessage(JSON.stringify({ id: message.id, value: value ?? null })),
					(error) =>
						worker.postMessage(JSON.stringify({ id: message.id, error: messageOf(error) })),
				);
			}
		});
	});
	state.runningWorkers.delete(worker);
	await worker.terminate();
	return ended;
}

/** Only the first outcome counts. */
function end(state: SandboxState, run: Run, status: Run['status'], error: string | null): Run {
	if (run.status !== 'running') return run;
	run.status = status;
	run.error = error;
	run.durationMs = Date.now() - Date.parse(run.startedAt);
	// A reset may have deleted it in the meantime.
	if (state.runs.get(run.id)) store(state, run);
	return run;
}

function store(state: SandboxState, run: Run): void {
	state.runs.put(run);
	const runs = state.runs.all();
	for (const old of runs.slice(0, Math.max(0, runs.length - maxRuns))) state.runs.remove(old.id);
	state.notifyChange();
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** A run in the log of runs. */
export function describeRun(state: SandboxState, run: Run): JsonObject {
	return { ...run, workflow: state.workflows.get(run.workflowId)?.name ?? null };
}
