/**
 * Real n8n with the packed package, and the sandbox on a file, killed with SIGKILL in the middle of
 * a sync of 5,000 items, of uploads, and of what the trigger tells; then started again, and the
 * workflows run again: nothing may be there twice, nothing may be lost, and what the node told must
 * be true. `npm run test:crash -- [--rounds N] [--seed N] [--goods N]`. The rounds kill n8n and
 * the sandbox in turn. A seed repeats the moments of the kills, not what the processes are at then.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { sandboxCredential } from '../../../harness/examples.mts';
import { makeUserFolder } from '../../../harness/n8nProcess.mts';
import { Chance } from '../../support/seededRandom.mts';
import { Ledger } from './pollLog.mts';
import { Machine } from './n8nHost.mts';
import { Platform } from './sandboxHost.mts';
import { KILLS_IN_WRITES, Rounds } from './rounds.mts';
import { filesWith, holds } from './secrets.mts';
import { Source } from './sourceServer.mts';
import { Tally } from './tally.mts';
import { syncWorkflow, triggerWorkflow, uploadWorkflow } from './workflows.mts';

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '20' },
		seed: { type: 'string' },
		goods: { type: 'string', default: '5000' },
	},
});

const CASES = 12;

const whole = (name: string, text: string) => {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} ${text}: no number`);
	return number;
};

const rounds = whole('rounds', values.rounds);
const sizes = { goods: whole('goods', values.goods), cases: CASES };
const seed =
	values.seed === undefined ? Math.floor(Math.random() * 1e9) : whole('seed', values.seed);

console.log(
	`${rounds} rounds from seed ${seed}: npm run test:crash -- --rounds ${rounds} --seed ${seed}`,
);
const started = Date.now();
const tally = new Tally();
// The sandbox's file may not lie where n8n's data is searched for the token.
const folder = await makeUserFolder();
const file = join(folder, 'sandbox.sqlite');
const environment = await setUpTestEnvironment({ db: file });
const platform = new Platform(environment.sandbox, file);
const machine = new Machine(environment.userFolder);
const source = new Source(sizes);
try {
	const address = await source.start();
	await platform.createTables();
	await machine.start();
	const { n8nApi } = machine;
	const credential = await n8nApi.createCredential(sandboxCredential(platform.sandbox));
	const ids = {
		sync: await n8nApi.createWorkflow(syncWorkflow(credential, address)),
		uploads: await n8nApi.createWorkflow(uploadWorkflow(credential, address)),
		trigger: await n8nApi.createWorkflow(triggerWorkflow(credential)),
	};
	await machine.activate(ids.trigger);
	const ledger = new Ledger(environment.userFolder, ids.trigger);
	const play = new Rounds(
		{ platform, machine, source, ledger, tally, ids, sizes },
		new Chance(seed),
	);
	await play.undisturbed();
	for (let round = 0; round < rounds; round += 1) {
		await (round % 2 === 0 ? play.killN8n() : play.killSandbox());
	}
	await machine.kill();
	await play.checkTold();
	const inWrites = tally.seen(KILLS_IN_WRITES);
	tally.check(
		'most kills fell into a request that wrote',
		inWrites < Math.floor(rounds / 2) ? [`${inWrites} of ${rounds}`] : [],
	);

	const { role } = platform.sandbox.tokens;
	const data = join(environment.userFolder, '.n8n');
	// A search that finds nothing at all would prove nothing.
	const isSearched = (await filesWith(data, 'Watched goods')).length > 0;
	tally.check('the search for the token finds what n8n stores', isSearched ? [] : ['nothing']);
	tally.check('no token in n8n’s data', await filesWith(data, role));
	tally.check(
		'no token in what n8n printed',
		holds(Buffer.from(machine.printed), role) ? ['the token'] : [],
	);
} finally {
	await machine.stop();
	await platform.stop();
	source.stop();
	await environment.tearDown();
}

console.log(`\n${tally.summary()}\n${Math.round((Date.now() - started) / 1000)} s`);
console.log(`\n${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed > 0 ? 1 : 0);
