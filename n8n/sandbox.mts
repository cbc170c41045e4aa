/** Starts the sandbox as its own process: `node sandbox/main.mts --json`. */

import { join } from 'node:path';
import { ROOT } from './launch.mts';
import { isPortFree, startProcess } from './processes.mts';

const READY_MILLISECONDS = 30_000;

/** The demo tokens that the sandbox prints at its start, one of each kind. */
export interface SandboxTokens {
	role: string;
	jwt: string;
	short: string;
	workflow: string;
	readonly: string;
	expired: string;
}

export interface SandboxOptions {
	/** A free one when left out. */
	port?: number;
	/** Its database, which the next start with the same file goes on with; else it is in memory. */
	db?: string;
}

export interface RunningSandbox {
	pid: number;
	/** The service's origin, without a slash at its end. */
	baseUrl: string;
	tokens: SandboxTokens;
	exited: Promise<number | null>;
	output(): string;
	stop(): Promise<void>;
}

/**
 * Starts a sandbox, on a free port when none is given.
 *
 * @throws Error when the port is taken, or with the sandbox's last words when it does not start
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
	if (options.port !== undefined && !(await isPortFree(options.port))) {
		throw new Error(`Port ${options.port} for the sandbox is in use.`);
	}
	const main = join(ROOT, 'sandbox', 'main.mts');
	const args = [main, '--json', '--port', String(options.port ?? 0)];
	if (options.db !== undefined) args.push('--db', options.db);
	const sandbox = startProcess(process.execPath, args, { cwd: ROOT });
	let timer: NodeJS.Timeout | undefined;
	const line = await Promise.race([
		new Promise<string>((settle) => sandbox.onLine(settle)),
		sandbox.exited.then(() => undefined),
		new Promise<undefined>((settle) => {
			timer = setTimeout(() => settle(undefined), READY_MILLISECONDS);
		}),
	]);
	clearTimeout(timer);
	if (line === undefined || !line.startsWith('{')) {
		await sandbox.stop();
		throw new Error(`The sandbox did not start. It said:\n${sandbox.output().slice(-3_000)}`);
	}
	const ready = JSON.parse(line) as { baseUrl: string; tokens: SandboxTokens };
	const { pid, exited, output, stop } = sandbox;
	return { pid, baseUrl: ready.baseUrl, tokens: ready.tokens, exited, output, stop };
}
