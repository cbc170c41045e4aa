/**
 * Runs one of the checks that are programs, with options of its own:
 *
 *   npm run check -- faults --schedules 1 --seed 3
 */
import { spawnSync } from 'node:child_process';
import { PROGRAMS } from './programs.mts';

const [name = '', ...options] = process.argv.slice(2);
const program = Object.entries(PROGRAMS).find(([known]) => known === name)?.[1];
if (program === undefined) {
	console.error(`No such check: '${name}'. There are: ${Object.keys(PROGRAMS).join(', ')}`);
	process.exit(2);
}
const { status } = spawnSync(process.execPath, [program, ...options], {
	stdio: 'inherit',
	// `npm run check` has built the package.
	env: { ...process.env, PACKAGE_IS_BUILT: 'true' },
});
process.exit(status ?? 1);
