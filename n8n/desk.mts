/** A whole desk for a test: the packed package in a fresh n8n folder, a sandbox, the CSV file. */

import { rm } from 'node:fs/promises';
import { type AirportServer, serveAirports } from './airports.mts';
import { ensureN8n } from './install.mts';
import { buildPackage, installPackage, makeUserFolder, packPackage } from './launch.mts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from './sandbox.mts';

export interface Desk {
	/** n8n's user folder, with the package installed and nothing else. */
	userFolder: string;
	sandbox: RunningSandbox;
	airports: AirportServer;
	/** Stops what runs and removes the folder. */
	clear(): Promise<void>;
}

/**
 * Builds and packs the package, installs the tarball the way a user does, starts a sandbox and
 * the CSV server. Ten seconds, and minutes more where n8n itself is not installed yet.
 */
export async function setUpDesk(options: SandboxOptions = {}): Promise<Desk> {
	await ensureN8n();
	const userFolder = await makeUserFolder();
	const cleanups = [async () => await rm(userFolder, { recursive: true, force: true })];
	const clear = async () => {
		for (const undo of cleanups.splice(0).reverse()) await undo();
	};
	try {
		await buildPackage();
		await installPackage(userFolder, await packPackage(userFolder));
		const airports = await serveAirports();
		cleanups.push(airports.stop);
		const sandbox = await startSandbox(options);
		cleanups.push(sandbox.stop);
		return { userFolder, sandbox, airports, clear };
	} catch (error) {
		await clear();
		throw error;
	}
}
