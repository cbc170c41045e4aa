/**
 * Kills real n8n with the packed package, and the sandbox with a database file, with SIGKILL during
 * a sync of 5,000 items, uploads, and polls. Then restarts them and runs the workflows again:
 * nothing may be doubled or lost, and the node's outcomes must be true. `npm run check -- crash
 * [--rounds N] [--seed N] [--goods N]`. The rounds kill n8n and the sandbox in turn. A seed repeats
 * the moments of the kills, but not the state of the processes at that time.
 */

import { join } from 'node:path';
import { setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { sandboxCredential } from '../../../harness/examples.mts';
import { makeUserFolder } from '../../../harness/n8nProcess.mts';
import { readOptions } from '../../support/options.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { Results } from '../../support/results.mts';
import { PollLog } from '../../support/pollLog.mts';
import { N8nHost } from './n8nHost.mts';
import { SandboxHost } from './sandboxHost.mts';
import { KILLS_IN_WRITES, Rounds } from './rounds.mts';
import { filesWith, holds } from './secrets.mts';
import { SourceServer } from './sourceServer.mts';
import { syncWorkflow, TRIGGER, triggerWorkflow, uploadWorkflow } from './workflows.mts';

const { rounds, goods, seed } = readOptions({ rounds: 20, goods: 5000 });
const sizes = { goods, cases: 12 };

console.log(`${rounds} rounds from seed ${seed}: npm run check -- crash --rounds ${rounds} --seed ${seed}`);
const results = new Results();
// Not where n8n's data is searched for the token.
const folder = await makeUserFolder();
const file = join(folder, 'sandbox.sqlite');
const environment = await setUpTestEnvironment({ db: file });
const sandboxHost = new SandboxHost(environment.sandbox, file);
const n8nHost = new N8nHost(environment.userFolder);
const source = new SourceServer(sizes);
try {
	const address = await source.start();
	await sandboxHost.createTables();
	await n8nHost.start();
	const { n8nApi } = n8nHost;
	const credential = await n8nApi.createCredential(sandboxCredential(sandboxHost.sandbox));
	const ids = {
		sync: await n8nApi.createWorkflow(syncWorkflow(credential, address)),
		uploads: await n8nApi.createWorkflow(uploadWorkflow(credential, address)),
		trigger: await n8nApi.createWorkflow(triggerWorkflow(credential)),
	};
	await n8nApi.publish(ids.trigger);
	const pollLog = new PollLog(environment.userFolder, ids.trigger, TRIGGER);
	const testRounds = new Rounds({ sandboxHost, n8nHost, source, pollLog, results, ids, sizes }, new SeededRandom(seed));
	await testRounds.undisturbed();
	for (let round = 0; round < rounds; round += 1) {
		await (round % 2 === 0 ? testRounds.killN8n() : testRounds.killSandbox());
	}
	await n8nHost.kill();
	await testRounds.checkEmittedChanges();
	const inWrites = results.seen.get(KILLS_IN_WRITES) ?? 0;
	results.check('most kills fell into a request that wrote', inWrites < Math.floor(rounds / 2) ? [`${inWrites} of ${rounds}`] : []);

	const { role } = sandboxHost.sandbox.tokens;
	const data = join(environment.userFolder, '.n8n');
	// A search that never finds anything would prove nothing.
	const isSearched = (await filesWith(data, 'Watched goods')).length > 0;
	results.check('the search for the token finds what n8n stores', isSearched ? [] : ['nothing']);
	results.check('no token in n8n’s data', await filesWith(data, role));
	results.check('no token in what n8n printed', holds(Buffer.from(n8nHost.log), role) ? ['the token'] : []);
} finally {
	await n8nHost.stop();
	await sandboxHost.stop();
	await source.stop();
	await environment.tearDown();
}

results.end();
