import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Call } from '../api/request.mts';
import type { Json, JsonObject, Run, Token, Workflow } from '../state/model.mts';
import type { World } from '../state/sandboxState.mts';
import { actorOf } from './runAs.mts';
import { serviceFor } from './service.mts';

type Message =
	| { kind: 'log'; line: string }
	| { kind: 'call'; id: number; name: string; args: Json[] }
	| { kind: 'done'; output: Json }
	| { kind: 'failed'; error: string };

const memoryMb = 64;
const logLinesKept = 1000;
const runsKept = 500;

/** Starts a workflow for a webhook call; the promise ends with its run. */
export function startRun(call: Call, workflow: Workflow): { run: Run; ended: Promise<Run> } {
	const { world } = call;
	const run: Run = {
		id: randomUUID(),
		workflowId: workflow.id,
		request: call.number,
		startedAt: new Date().toISOString(),
		durationMs: null,
		status: 'running',
		actedAs: '',
		payload: call.body as Json,
		output: null,
		log: [],
		error: null,
	};
	keep(world, run);
	let actor: Token;
	try {
		actor = actorOf(call, workflow, run);
	} catch (error) {
		return { run, ended: Promise.resolve(end(world, run, 'failed', messageOf(error))) };
	}
	return { run, ended: work(call, workflow, run, actor) };
}

/** The script in its worker, with a time limit that also ends endless loops. */
async function work(call: Call, workflow: Workflow, run: Run, actor: Token): Promise<Run> {
	const { world } = call;
	const service = serviceFor(call, actor);
	const { id, name } = workflow;
	const worker = new Worker(new URL('./worker.mts', import.meta.url), {
		workerData: {
			script: workflow.script,
			workflow: JSON.stringify({ id, name, runId: run.id, payloadRequest: run.payload }),
		},
		env: {},
		stdout: true,
		stderr: true,
		resourceLimits: { maxOldGenerationSizeMb: memoryMb },
	});
	world.workers.add(worker);
	const ended = await new Promise<Run>((resolve) => {
		const finish = (status: Run['status'], error: string | null) =>
			resolve(end(world, run, status, error));
		const limit = setTimeout(
			() => finish('timedOut', `The script took more than ${workflow.timeLimitMs} ms.`),
			workflow.timeLimitMs,
		);
		worker.once('exit', () => {
			clearTimeout(limit);
			finish('failed', 'The script ended without an outcome.');
		});
		worker.on('error', (error) => finish('failed', messageOf(error)));
		worker.on('message', (text: string) => {
			const message = JSON.parse(text) as Message;
			if (message.kind === 'log') run.log = [...run.log, message.line].slice(-logLinesKept);
			if (message.kind === 'done') {
				run.output = message.output;
				finish('succeeded', null);
			}
			if (message.kind === 'failed') finish('failed', message.error);
			if (message.kind === 'call') {
				// A run that is over can do nothing more, whatever its script still asks for.
				if (run.status !== 'running' || !world.runs.get(run.id)) return;
				void service(message.name, message.args).then(
					(value) => worker.postMessage(JSON.stringify({ id: message.id, value: value ?? null })),
					(error) =>
						worker.postMessage(JSON.stringify({ id: message.id, error: messageOf(error) })),
				);
			}
		});
	});
	world.workers.delete(worker);
	await worker.terminate();
	return ended;
}

/** The first outcome counts. */
function end(world: World, run: Run, status: Run['status'], error: string | null): Run {
	if (run.status !== 'running') return run;
	run.status = status;
	run.error = error;
	run.durationMs = Date.now() - Date.parse(run.startedAt);
	// A reset may have forgotten it in the meantime.
	if (world.runs.get(run.id)) keep(world, run);
	return run;
}

function keep(world: World, run: Run): void {
	world.runs.put(run);
	const runs = world.runs.all();
	for (const old of runs.slice(0, Math.max(0, runs.length - runsKept))) world.runs.remove(old.id);
	world.changed();
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** A run as the log shows it. */
export function describedRun(world: World, run: Run): JsonObject {
	return { ...run, workflow: world.workflows.get(run.workflowId)?.name ?? null };
}
