/** CPU profiles of the measured processes: `npm run bench -- --profile FOLDER`. */
import { basename, dirname, join } from 'node:path';

let folder: string | undefined;
let count = 0;

/** Makes everything that is measured from now on write a profile into this folder. */
export function writeProfilesTo(path: string): void {
	folder = path;
}

/** The file for the next profile; undefined unless profiles are wanted. */
export function profilePath(name: string): string | undefined {
	if (folder === undefined) return undefined;
	count += 1;
	return join(folder, `${count}-${name.replace(/[^\w.]+/g, '-')}.cpuprofile`);
}

/** Options for a new Node process, with a profile of its whole life; none unless profiles are wanted. */
export function profileArgs(name: string): string[] {
	const path = profilePath(name);
	if (path === undefined) return [];
	return ['--cpu-prof', `--cpu-prof-dir=${dirname(path)}`, `--cpu-prof-name=${basename(path)}`];
}
