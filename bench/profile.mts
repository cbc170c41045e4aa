/** CPU profiles of the processes that are measured: `npm run bench -- --profile FOLDER`. */

let folder: string | undefined;
let count = 0;

/** Makes every process that starts from now on write a profile into this folder. */
export function writeProfilesTo(path: string): void {
	folder = path;
}

/** Options for a new Node process; none unless profiles are wanted. */
export function profileArgs(name: string): string[] {
	if (folder === undefined) return [];
	count += 1;
	return ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${count}-${name}.cpuprofile`];
}
