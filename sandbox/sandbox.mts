import type { AddressInfo } from 'node:net';
import { seedAccess, demoTokens } from './seed/access.mts';
import { seedCrm } from './seed/crm.mts';
import { seedGeo } from './seed/geo.mts';
import { seedWorkflows } from './seed/workflows.mts';
import { createServer, type Certificate } from './http/server.mts';
import { SandboxState } from './state/sandboxState.mts';
import type { Settings } from './state/settings.mts';

export interface SandboxOptions {
	/** 0 for a free one. */
	port: number;
	/** The database's file, or `:memory:`. */
	file: string;
	/** With the sample applications. */
	seeded: boolean;
	https?: Certificate | undefined;
	/** What differs from the default settings, also after a reset. */
	settings?: Partial<Settings>;
}

export interface Sandbox {
	baseUrl: string;
	tokens: Record<string, string>;
	close(): Promise<void>;
}

/** Starts a sandbox on loopback. The same file opened again has the same data and tokens. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
	const state = new SandboxState(options.file);
	const { settings = {} } = options;
	const seed = () => {
		state.clear();
		state.updateSettings(settings);
		state.database.transaction(() => {
			seedAccess(state);
			if (!options.seeded) return;
			seedCrm(state);
			seedGeo(state);
			seedWorkflows(state);
		});
	};
	if (state.isNew) seed();
	else state.updateSettings(settings);
	const server = createServer(state, seed, options.https);
	await server.listen({ host: '127.0.0.1', port: options.port });
	const { port } = server.server.address() as AddressInfo;
	return {
		baseUrl: `${options.https ? 'https' : 'http'}://127.0.0.1:${port}`,
		tokens: demoTokens(state),
		async close() {
			await server.close();
			await state.close();
		},
	};
}
