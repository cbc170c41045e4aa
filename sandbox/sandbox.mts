import type { AddressInfo } from 'node:net';
import { seedAccess, demoTokens } from './seed/access.mts';
import { seedCrm } from './seed/crm.mts';
import { seedGeo } from './seed/geo.mts';
import { seedWorkflows } from './seed/workflows.mts';
import { createServer, type Certificate } from './http/server.mts';
import { World } from './state/sandboxState.mts';

export interface SandboxOptions {
	/** 0 for a free one. */
	port: number;
	/** The database's file, or `:memory:`. */
	file: string;
	/** With the sample applications. */
	seeded: boolean;
	https?: Certificate | undefined;
}

export interface Sandbox {
	baseUrl: string;
	tokens: Record<string, string>;
	close(): Promise<void>;
}

/** Starts a sandbox on loopback. The same file opened again has the same data and tokens. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
	const world = new World(options.file);
	const seed = () => {
		world.clear();
		world.database.transaction(() => {
			seedAccess(world);
			if (!options.seeded) return;
			seedCrm(world);
			seedGeo(world);
			seedWorkflows(world);
		});
	};
	if (world.isNew) seed();
	const server = createServer(world, seed, options.https);
	await server.listen({ host: '127.0.0.1', port: options.port });
	const { port } = server.server.address() as AddressInfo;
	return {
		baseUrl: `${options.https ? 'https' : 'http'}://127.0.0.1:${port}`,
		tokens: demoTokens(world),
		async close() {
			await server.close();
			await world.close();
		},
	};
}
