/** The package of this repository: builds it, packs it, installs it as n8n does. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runCommand } from './processes.mts';

/** The root folder of this repository. */
export const ROOT = dirname(import.meta.dirname);

let built: Promise<void> | undefined;

/**
 * Builds the package into `dist`, once for this process and those that it starts
 * (`PACKAGE_IS_BUILT`), because a second build would empty it in the meantime.
 */
export async function buildPackage(): Promise<void> {
	if (process.env.PACKAGE_IS_BUILT) return;
	built ??= (async () => {
		const { code, output } = await runCommand('npm', ['run', 'build'], { cwd: ROOT });
		if (code !== 0) throw new Error(`The package cannot be built:\n${output}`);
		process.env.PACKAGE_IS_BUILT = 'true';
	})();
	await built;
}

/** Packs the built package into a folder, as for publishing. Returns the tarball's path. */
export async function packPackage(folder: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	// Without scripts, so that the last build is packed and not built again.
	const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
	const { code, stdout, output } = await runCommand('npm', args, { cwd: ROOT });
	if (code !== 0) throw new Error(`The package cannot be packed:\n${output}`);
	const [packed] = JSON.parse(stdout) as Array<{ filename: string }>;
	const tarball = join(folder, packed?.filename ?? '');
	if (packed === undefined || !existsSync(tarball)) throw new Error(`No tarball:\n${output}`);
	return tarball;
}

/**
 * Installs a packed package in n8n's folder for community packages, with n8n's own npm options: once, and
 * further user folders get a copy of that.
 */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const hash = createHash('sha256')
		.update(await readFile(tarball))
		.digest('hex');
	const installed = join(ROOT, '.cache', 'installed', hash);
	if (!existsSync(installed)) {
		await mkdir(dirname(installed), { recursive: true });
		const folder = await mkdtemp(`${installed}-`);
		const manifest = { name: 'installed-nodes', private: true, dependencies: {} };
		await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
		const { code, output } = await runCommand(
			'npm',
			[
				'install',
				tarball,
				'--ignore-scripts',
				'--package-lock=false',
				'--legacy-peer-deps',
				'--no-audit',
				'--no-fund',
			],
			{ cwd: folder },
		);
		if (code !== 0) throw new Error(`The package cannot be installed:\n${output}`);
		// Another installation may have been first, also one of this process.
		await rename(folder, installed).catch(() => rm(folder, { recursive: true }));
	}
	await cp(installed, join(userFolder, '.n8n', 'nodes'), { recursive: true });
}
