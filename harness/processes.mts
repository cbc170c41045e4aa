/** Processes that end together with everything that they started, and free ports for them. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import getPort from 'get-port';

/** How much of a process's output is kept for an error message. */
const KEPT_OUTPUT_BYTES = 64 * 1024;

/** How long a process may take to end by itself before it is killed: n8n grants its executions 30 s. */
const STOP_TIMEOUT_MS = 40_000;

const LOOPBACK = '127.0.0.1';

export interface ProcessOptions {
	cwd?: string;
	/** The whole environment; this process's own by default. */
	env?: NodeJS.ProcessEnv;
	/** Write standard output to this file: a program that exits at once may leave a pipe half written. */
	stdoutFile?: string;
}

export interface RunningProcess {
	readonly pid: number;
	/** The last 64 KiB that it printed, both streams. */
	output(): string;
	/** Calls the listener with every complete line of standard output from now on. */
	onLine(listener: (line: string) => void): void;
	/** Resolves with its exit code, or null when a signal ended it. */
	readonly exited: Promise<number | null>;
	/** Ends it and everything that it started; resolves when it is gone. */
	stop(): Promise<void>;
}

export interface CommandResult {
	code: number | null;
	stdout: string;
	/** Both streams, in the order they came. */
	output: string;
}

const commonOptions = ({ cwd, env }: ProcessOptions) =>
	({
		cwd,
		env: env ?? process.env,
		extendEnv: false,
		stdin: 'ignore',
		all: true,
		reject: false,
		// In its own group, so that n8n's task runner and a browser's tabs end with it. When this
		// process ends for whatever reason, nothing that it started may stay behind, so there is no
		// grace period.
		killDescendants: true,
		killSignal: 'SIGKILL',
	}) as const;

/** The command line; run by a shell if output is to be redirected to a file. */
const commandLine = (command: string, args: readonly string[], { stdoutFile }: ProcessOptions) =>
	stdoutFile === undefined
		? ([command, args] as const)
		: (['/bin/sh', ['-c', 'exec "$@" > "$0"', stdoutFile, command, ...args]] as const);

/** Starts a process in a group of its own. A command that cannot be started counts as ended. */
export function startProcess(
	command: string,
	args: readonly string[],
	options: ProcessOptions = {},
): RunningProcess {
	const child = execa(...commandLine(command, args, options), {
		...commonOptions(options),
		buffer: false,
	});
	let output = '';
	child.all.on('data', (chunk: Buffer) => {
		output = (output + chunk.toString('utf8')).slice(-KEPT_OUTPUT_BYTES);
	});
	const lines = createInterface({ input: child.stdout });

	const exited = new Promise<number | null>((resolve) => {
		child.nodeChildProcess.once('exit', (code) => {
			// The rest of its group has lost its parent.
			child.kill();
			resolve(code);
		});
		void child.then(({ exitCode, shortMessage }) => {
			if (child.pid === undefined) output += shortMessage;
			resolve(exitCode ?? null);
		});
	});

	return {
		pid: child.pid ?? -1,
		output: () => output,
		onLine: (listener) => void lines.on('line', listener),
		exited,
		stop: async () => {
			child.kill('SIGTERM');
			const timer = setTimeout(() => child.kill(), STOP_TIMEOUT_MS);
			await exited;
			clearTimeout(timer);
		},
	};
}

/** Runs a command to its end and returns everything that it printed. */
export async function runCommand(
	command: string,
	args: readonly string[],
	options: ProcessOptions = {},
): Promise<CommandResult> {
	const result = await execa(...commandLine(command, args, options), {
		...commonOptions(options),
		stripFinalNewline: false,
	});
	const written = options.stdoutFile === undefined ? '' : readFileSync(options.stdoutFile, 'utf8');
	return {
		code: result.exitCode ?? null,
		stdout: result.stdout + written,
		output: result.all + written + (result.exitCode === undefined ? result.shortMessage : ''),
	};
}

/** Whether a loopback port can be listened on. */
export async function isPortFree(port: number): Promise<boolean> {
	// Not get-port: it reserves a port for half a minute, so a second check would fail.
	const server = createServer();
	return await new Promise<boolean>((resolve) => {
		server.once('error', () => resolve(false));
		server.listen(port, LOOPBACK, () => server.close(() => resolve(true)));
	});
}

/** A loopback port that is free now: the preferred one if it is. */
export async function findFreePort(preferred?: number): Promise<number> {
	return await getPort({ host: LOOPBACK, port: preferred });
}
