/** Runs the sandbox in a process of its own: `node sandbox/main.mts --json`; docs/sandbox.md. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import {
	createSandboxAdmin,
	httpClient,
	type HttpClient,
	type SandboxAdmin,
} from './sandboxAdmin.mts';

// Jest loads this module too, and cannot load execa: so a plain child process.

const MAIN = join(import.meta.dirname, '..', 'sandbox', 'main.mts');
const READY_TIMEOUT_MS = 90_000;
const KEPT_OUTPUT_BYTES = 64 * 1024;

/**
 * Ends the sandbox when its parent process ends, for whatever reason: its standard input then
 * closes.
 */
const EXIT_WITH_PARENT =
	"data:text/javascript,import { isMainThread } from 'node:worker_threads';" +
	"if (isMainThread) process.stdin.resume().on('end', () => process.exit());";

/** The demo tokens that the sandbox prints when it starts, one of each type. */
export type SandboxTokens = Record<
	'role' | 'jwt' | 'short' | 'workflow' | 'readonly' | 'expired' | 'revoked' | 'form',
	string
>;

export interface SandboxOptions {
	/** A free one by default. */
	port?: number;
	/** The file of its database; in memory by default. */
	db?: string;
	/** Serve HTTPS with a self-signed certificate. */
	https?: boolean;
	/** Whether it begins with the demo data; true by default. */
	seeded?: boolean;
	/** What differs from the default settings, also after a reset; docs/sandbox.md, "Settings". */
	settings?: Record<string, unknown>;
	/** Whether the process that started it may exit while it runs; the sandbox then ends as well. */
	isUnreferenced?: boolean;
	/** Options of Node itself, such as `--cpu-prof`. */
	nodeArgs?: readonly string[];
}

/** A running sandbox, whoever started it. */
export interface ConnectedSandbox {
	/** The origin of the service, without a trailing slash. */
	baseUrl: string;
	tokens: SandboxTokens;
	admin: SandboxAdmin;
	/** An independent client of the API with a token; it returns the response whatever its status. */
	client(token?: string): HttpClient;
}

export interface RunningSandbox extends ConnectedSandbox {
	pid: number;
	/** Resolves with its exit code, or null when a signal ended it. */
	exited: Promise<number | null>;
	/** The last 64 KiB that it printed. */
	output(): string;
	/** Ends it as Ctrl-C does, or at once with SIGKILL; resolves when it is gone. */
	stop(signal?: NodeJS.Signals): Promise<void>;
}

/** The clients of a sandbox that runs. */
export const connectSandbox = (baseUrl: string, tokens: SandboxTokens): ConnectedSandbox => ({
	baseUrl,
	tokens,
	admin: createSandboxAdmin(baseUrl),
	client: (token = tokens.role) =>
		httpClient(`${baseUrl}/api/v2`, { Authorization: `Bearer ${token}` }),
});

/**
 * Starts a sandbox and waits until it is ready.
 *
 * @throws Error with the sandbox's last output if it does not start, as when the port is in use
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
	const args = ['--import', EXIT_WITH_PARENT, MAIN, '--json', '--port', String(options.port ?? 0)];
	if (options.db !== undefined) args.push('--db', options.db);
	if (options.https) args.push('--https');
	if (options.seeded === false) args.push('--no-seed');
	if (options.settings) args.push('--settings', JSON.stringify(options.settings));
	const child = spawn(process.execPath, [...(options.nodeArgs ?? []), ...args]);
	let output = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => {
			output = (output + chunk.toString()).slice(-KEPT_OUTPUT_BYTES);
		});
	}
	const exited = once(child, 'exit').then(([code]) => code as number | null);
	const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
		child.kill(signal);
		await exited;
	};
	const ready = new AbortController();
	const [line] = (await Promise.race([
		once(createInterface({ input: child.stdout }), 'line', { signal: ready.signal }),
		exited.then(() => []),
		pause(READY_TIMEOUT_MS, [], { signal: ready.signal }),
	])) as [string?];
	ready.abort();
	if (!line?.startsWith('{')) {
		await stop('SIGKILL');
		throw new Error(`The sandbox did not start. Its last output:\n${output.slice(-3_000)}`);
	}
	if (options.isUnreferenced) {
		for (const part of [child, child.stdin, child.stdout, child.stderr]) (part as Socket).unref();
	}
	const { baseUrl, tokens } = JSON.parse(line) as Pick<RunningSandbox, 'baseUrl' | 'tokens'>;
	return {
		...connectSandbox(baseUrl, tokens),
		pid: child.pid ?? -1,
		exited,
		output: () => output,
		stop,
	};
}
