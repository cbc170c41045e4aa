/** Runs the sandbox in a process of its own: `node sandbox/main.mts --json`. */

import { join } from 'node:path';
import { ROOT } from './nodePackage.mts';
import { isPortFree, startProcess } from './processes.mts';

const READY_TIMEOUT_MS = 30_000;

/** The demo tokens that the sandbox prints when it starts, one of each type. */
export interface SandboxTokens {
	role: string;
	jwt: string;
	short: string;
	workflow: string;
	readonly: string;
	expired: string;
}

export interface SandboxOptions {
	/** A free one by default. */
	port?: number;
	/** The file of its database; in memory by default. */
	db?: string;
	/** Serve HTTPS with a self-signed certificate. */
	https?: boolean;
	/** Options of Node itself, such as `--cpu-prof`. */
	nodeArgs?: readonly string[];
}

export interface RunningSandbox {
	pid: number;
	/** The origin of the service, without a trailing slash. */
	baseUrl: string;
	tokens: SandboxTokens;
	exited: Promise<number | null>;
	output(): string;
	stop(): Promise<void>;
}

/**
 * Starts a sandbox and waits until it is ready.
 *
 * @throws Error if the port is in use, or with the sandbox's last output if it does not start
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
	if (options.port !== undefined && !(await isPortFree(options.port))) {
		throw new Error(`Port ${options.port} for the sandbox is in use.`);
	}
	const main = join(ROOT, 'sandbox', 'main.mts');
	const args = [main, '--json', '--port', String(options.port ?? 0)];
	if (options.db !== undefined) args.push('--db', options.db);
	if (options.https) args.push('--https');
	const sandbox = startProcess(process.execPath, [...(options.nodeArgs ?? []), ...args], {
		cwd: ROOT,
	});
	let timer: NodeJS.Timeout | undefined;
	const line = await Promise.race([
		new Promise<string>((resolve) => sandbox.onLine(resolve)),
		sandbox.exited.then(() => undefined),
		new Promise<undefined>((resolve) => {
			timer = setTimeout(() => resolve(undefined), READY_TIMEOUT_MS);
		}),
	]);
	clearTimeout(timer);
	if (line === undefined || !line.startsWith('{')) {
		await sandbox.stop();
		throw new Error(
			`The sandbox did not start. Its last output:\n${sandbox.output().slice(-3_000)}`,
		);
	}
	const ready = JSON.parse(line) as { baseUrl: string; tokens: SandboxTokens };
	const { pid, exited, output, stop } = sandbox;
	return { pid, baseUrl: ready.baseUrl, tokens: ready.tokens, exited, output, stop };
}
