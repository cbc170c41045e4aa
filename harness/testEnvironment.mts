/**
 * The environment of an end-to-end test: the package in a new n8n folder, a sandbox, the demo's
 * services.
 */

import { rm } from 'node:fs/promises';
import { type DemoServices, startDemoServices } from './demoServices.mts';
import { ensureN8n } from './install.mts';
import { makeStartedUserFolder } from './n8nProcess.mts';
import { buildPackage, installPackage, packPackage } from './nodePackage.mts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from './sandboxProcess.mts';

export interface TestEnvironment {
	/** n8n's user folder, with the package installed, and an empty database. */
	userFolder: string;
	sandbox: RunningSandbox;
	services: DemoServices;
	/** Stops everything and removes the folder. */
	tearDown(): Promise<void>;
}

/**
 * Builds and packs the package, installs the tarball as a user does and starts a sandbox and
 * the demo's services. Takes ten seconds, and minutes more if n8n itself is not installed yet.
 */
export async function setUpTestEnvironment(options: SandboxOptions = {}): Promise<TestEnvironment> {
	await ensureN8n();
	const userFolder = await makeStartedUserFolder();
	const cleanups = [async () => await rm(userFolder, { recursive: true, force: true })];
	const tearDown = async () => {
		for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
	};
	try {
		await buildPackage();
		await installPackage(userFolder, await packPackage(userFolder));
		const sandbox = await startSandbox(options);
		cleanups.push(sandbox.stop);
		const services = await startDemoServices(sandbox.baseUrl);
		cleanups.push(services.stop);
		return { userFolder, sandbox, services, tearDown };
	} catch (error) {
		await tearDown();
		throw error;
	}
}
