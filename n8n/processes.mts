/** Processes that end together with everything they started. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** How much of a process's output is kept for an error message. */
const KEPT_OUTPUT = 64 * 1024;

/** How long a process may take to end by itself before it is killed. */
const STOP_MILLISECONDS = 8_000;

export interface ProcessOptions {
	cwd?: string;
	env?: NodeJS.ProcessEnv;
	/** Where its standard output goes: a program that exits at once leaves a pipe half written. */
	stdoutFile?: string;
}

export interface RunningProcess {
	readonly pid: number;
	/** The last 64 KiB that it printed, both streams. */
	output(): string;
	/** Called with every complete line of its standard output. */
	onLine(listener: (line: string) => void): void;
	/** Settles with its exit code, or null when a signal ended it. */
	readonly exited: Promise<number | null>;
	/** Ends it and all that it started; settles when it is gone. */
	stop(): Promise<void>;
}

export interface CommandResult {
	code: number | null;
	stdout: string;
	/** Both streams, in the order they came. */
	output: string;
}

const running = new Set<ChildProcess>();

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
	if (child.pid === undefined) return;
	try {
		// A negative number means the whole group: n8n's task runner, a browser's tabs.
		process.kill(-child.pid, signal);
	} catch {
		// The group is gone already.
	}
}

// Whatever ends this process, nothing that it started stays behind. A signal that nobody
// listens to would end it without the event.
process.on('exit', () => {
	for (const child of running) signalGroup(child, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => {
		if (process.listenerCount(signal) === 1) process.exit(130);
	});
}

function launch(command: string, args: readonly string[], options: ProcessOptions): ChildProcess {
	const file = options.stdoutFile === undefined ? undefined : openSync(options.stdoutFile, 'w');
	const child = spawn(command, args, {
		cwd: options.cwd,
		env: options.env ?? process.env,
		stdio: ['ignore', file ?? 'pipe', 'pipe'],
		detached: true,
	});
	if (file !== undefined) closeSync(file);
	running.add(child);
	return child;
}

/** Starts a process in a group of its own. A command that cannot be started counts as ended. */
export function startProcess(
	command: string,
	args: readonly string[],
	options: ProcessOptions = {},
): RunningProcess {
	const child = launch(command, args, options);
	const listeners: Array<(line: string) => void> = [];
	let kept = '';
	let unfinished = '';

	const keep = (chunk: Buffer) => {
		kept = (kept + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
	};
	child.stderr?.on('data', keep);
	child.stdout?.on('data', (chunk: Buffer) => {
		keep(chunk);
		const lines = (unfinished + chunk.toString('utf8')).split('\n');
		unfinished = lines.pop() ?? '';
		for (const line of lines) for (const listener of listeners) listener(line);
	});

	const exited = new Promise<number | null>((settle) => {
		child.on('error', (error) => {
			kept += `\n${error.message}`;
			running.delete(child);
			settle(null);
		});
		child.on('exit', (code) => {
			// What is left of its group has lost its parent: end it too.
			signalGroup(child, 'SIGKILL');
			running.delete(child);
			settle(code);
		});
	});

	const stop = async () => {
		signalGroup(child, 'SIGTERM');
		const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_MILLISECONDS);
		await exited;
		clearTimeout(timer);
	};

	return {
		pid: child.pid ?? -1,
		output: () => kept,
		onLine: (listener) => void listeners.push(listener),
		exited,
		stop,
	};
}

/** Runs a command to its end and returns all that it printed. */
export async function runCommand(
	command: string,
	args: readonly string[],
	options: ProcessOptions = {},
): Promise<CommandResult> {
	const child = launch(command, args, options);
	const stdout: Buffer[] = [];
	const both: Buffer[] = [];
	child.stdout?.on('data', (chunk: Buffer) => {
		stdout.push(chunk);
		both.push(chunk);
	});
	child.stderr?.on('data', (chunk: Buffer) => both.push(chunk));
	const code = await new Promise<number | null>((settle) => {
		child.on('error', (error) => {
			both.push(Buffer.from(error.message));
			settle(null);
		});
		child.on('close', settle);
	});
	running.delete(child);
	if (options.stdoutFile !== undefined) {
		const written = readFileSync(options.stdoutFile);
		stdout.push(written);
		both.push(written);
	}
	return {
		code,
		stdout: Buffer.concat(stdout).toString('utf8'),
		output: Buffer.concat(both).toString('utf8'),
	};
}

/** Whether a port of this machine's loopback address can be taken. */
export async function isPortFree(port: number): Promise<boolean> {
	const server = createServer();
	return await new Promise<boolean>((settle) => {
		server.once('error', () => settle(false));
		server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
	});
}

/** A loopback port that nobody uses at the moment. */
export async function findFreePort(): Promise<number> {
	const server = createServer();
	return await new Promise<number>((settle, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', () => {
			const address = server.address();
			const port = typeof address === 'object' && address !== null ? address.port : 0;
			server.close(() => settle(port));
		});
	});
}
