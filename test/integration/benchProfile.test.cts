/** `npm run bench -- --profile`: when a worker has stopped, its profile is written. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PROGRAM = `
import { readdirSync } from 'node:fs';
import { writeProfilesTo } from './bench/profile.mts';
import { spawnWorker } from './bench/workers/spawnWorker.mts';

writeProfilesTo(process.argv[1]);
const worker = await spawnWorker('node');
await worker.run('overhead', { size: 100 });
await worker.stop();
console.log(readdirSync(process.argv[1]).join());
process.exit();
`;

test('a benchmark without a network has a profile of the node', () => {
	const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
	const output = execFileSync(process.execPath, ['--input-type=module', '--eval', PROGRAM, folder], {
		cwd: resolve(__dirname, '../..'),
		encoding: 'utf8',
	});
	expect(output.trim()).toBe('1-node.cpuprofile');
	rmSync(folder, { recursive: true });
});
