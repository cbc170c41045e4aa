/** The rounds of a crash test: start, kill, restart, run again, check. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Execution, describeFailure } from '../../../harness/n8nApi.mts';
import type { LoggedRequest, StoredRecord } from '../../../harness/sandboxAdmin.mts';
import type { Results } from '../../support/results.mts';
import type { SeededRandom } from '../../support/seededRandom.mts';
import { checkOutcomes, checkUploads, duplicateKeys, missingKeys, checkFileCounts } from './checks.mts';
import { type PollLog, nameOf } from '../../support/pollLog.mts';
import type { N8nHost } from './n8nHost.mts';
import { CASES, FILE_FIELDS, GOODS, type SandboxHost, RECEIVED_CHANGES } from './sandboxHost.mts';
import { type Case, casesOf, type Good, goodsOf, type Sizes, type SourceServer } from './sourceServer.mts';

/** Before and after each write while something is killed, so that a kill falls into it. */
const LATENCY_MS = 60;
/** How long n8n may take from one write request to the next. */
const NEXT_WRITE_MS = 2000;
/** How long the trigger may take to emit all changes. */
const EMIT_TIMEOUT_MS = 180_000;
/** How long a killed sandbox is away; the node tries for longer. */
const AWAY_MS = [200, 1200] as const;
/** The share of n8n's kills that are timed by the trigger's reads. */
const AIMED_SHARE = 0.5;
/** About the time from a page that the trigger reads to the end of its poll. */
const POLL_MS = 300;
/** How long until the trigger reads something; it polls every three seconds. */
const POLL_TIMEOUT_MS = 6000;

export const KILLS_IN_WRITES = 'kills while a request wrote';

/** A write of the sync or the uploads, not of the trigger's workflow. */
const isOfWorkflows = ({ path }: LoggedRequest) => !path.includes(`/${RECEIVED_CHANGES}/`);

interface Parts {
	sandboxHost: SandboxHost;
	n8nHost: N8nHost;
	source: SourceServer;
	pollLog: PollLog;
	results: Results;
	/** The ids of the workflows. */
	ids: { sync: string; uploads: string; trigger: string };
	sizes: Sizes;
}

interface Outcome {
	sync: Execution | undefined;
	uploads: Execution | undefined;
}

export class Rounds {
	readonly #parts: Parts;
	readonly #random: SeededRandom;
	/** What the sync last sent for each key. */
	readonly #goods = new Map<string, Good>();
	#cases: Case[] = [];
	readonly #arrived = new Set<string>();
	#round = -1;
	/** How many write requests there are without a kill. */
	#usualWrites = 0;
	/** How long both workflows take without a kill. */
	#usualMs = 0;

	constructor(parts: Parts, random: SeededRandom) {
		this.#parts = parts;
		this.#random = random;
	}

	/** A round without a kill, which shows that everything works and how long it takes. */
	async undisturbed(): Promise<void> {
		const { sandboxHost, results } = this.#parts;
		const began = Date.now();
		const { before, running } = await this.#start('nobody is killed');
		const done = await running;
		this.#usualMs = Date.now() - began;
		this.#usualWrites = (await sandboxHost.writes()).filter(isOfWorkflows).length;
		await sandboxHost.slowDown(0);
		await this.#checkTruth(done, before);
		await this.#checkGoods();
		await this.#checkFiles('at the first run');
		await this.#waitForLastChanges();
		results.see('ms that a run takes with nobody killed', this.#usualMs);
	}

	/** Kills n8n, restarts it, and runs both workflows again. */
	async killN8n(): Promise<void> {
		const { sandboxHost, n8nHost, pollLog, results } = this.#parts;
		const { running } = await this.#start('n8n is killed');
		const isAimed = this.#random.happens(AIMED_SHARE);
		const write = await this.#untilWrite();
		if (isAimed) await this.#untilTriggerReads();
		const writing = await this.#countWriting();
		await n8nHost.kill();
		const { sync, uploads } = await running;
		const written = await this.#countWritten();
		console.log(
			`  n8n killed in write ${write}${isAimed ? ' or later, while the trigger read' : ''}: ` +
				`${writing} requests were writing, ${written} of ${this.#parts.sizes.goods} items were written`,
		);
		results.see('kills of n8n');
		if (writing > 0) results.see(KILLS_IN_WRITES);
		if (!sync && written > 0) results.see('kills of n8n in the middle of the sync');
		if (!uploads) results.see('kills of n8n before the uploads had ended');

		await sandboxHost.slowDown(0);
		pollLog.read();
		await n8nHost.start();
		const before = await sandboxHost.records(GOODS);
		await this.#checkTruth(await this.#runBoth(), before);
		await this.#checkEnd('after n8n was killed and the workflow run again');
	}

	/** Kills the sandbox and restarts it while n8n waits for its responses. */
	async killSandbox(): Promise<void> {
		const { sandboxHost, n8nHost, results, ids } = this.#parts;
		const { before, running } = await this.#start('the sandbox is killed');
		const write = await this.#untilWrite();
		const writing = await this.#countWriting();
		await sandboxHost.kill();
		const away = this.#random.between(...AWAY_MS);
		await sleep(away);
		await sandboxHost.start();
		console.log(`  sandbox killed in write ${write}: ${writing} requests were writing`);
		results.see('kills of the sandbox');
		if (writing > 0) results.see(KILLS_IN_WRITES);

		const done = await running;
		await sandboxHost.slowDown(0);
		await this.#checkTruth(done, before);
		const again = await n8nHost.run(ids.uploads);
		results.check('the uploads run again', again ? [describeFailure(again) ?? ''].filter(Boolean) : ['no']);
		await this.#checkEnd('after the sandbox was killed and the workflow run again');
	}

	/** Whether each record's last change was emitted exactly once. n8n must not be running. */
	async checkEmittedChanges(): Promise<void> {
		const { sandboxHost, pollLog, results } = this.#parts;
		pollLog.read();
		const last = (await sandboxHost.records(GOODS)).map(({ id, ver, modified }) => ({ id, ver, at: modified }));
		const missing = last.filter((change) => !pollLog.emitted.has(nameOf(change)));
		const inGap = missing.filter((change) => pollLog.isInGap(change));
		results.see('last changes to be emitted', last.length);
		results.see('of them in no execution, lost between n8n’s two writes', inGap.length);
		results.check('each last change is in an execution', missing.filter((change) => !pollLog.isInGap(change)).map(nameOf));
		const twice = [...pollLog.emitted].filter(([, times]) => times > 1).map(([name]) => name);
		const byName = new Map(last.map((change) => [nameOf(change), change]));
		const allowed = twice.filter((name) => {
			const change = byName.get(name);
			return change === undefined || pollLog.isInOtherGap(change);
		});
		results.see('changes emitted twice, between n8n’s two writes', allowed.length);
		results.check(
			'no change is in two executions',
			twice.filter((name) => !allowed.includes(name)),
		);
	}

	/** Starts both workflows with the data of the next round, slowly. */
	async #start(what: string) {
		this.#round += 1;
		const { source, sizes, sandboxHost } = this.#parts;
		console.log(`Round ${this.#round}: ${what}`);
		source.round = this.#round;
		for (const good of goodsOf(this.#round, sizes)) this.#goods.set(good.sku, good);
		this.#cases = casesOf(this.#round, sizes);
		await sandboxHost.slowDown(LATENCY_MS);
		await sandboxHost.admin.clearRequests();
		return { before: await sandboxHost.records(GOODS), running: this.#runBoth() };
	}

	#countWriting = async () => (await this.#parts.sandboxHost.writes()).filter(({ outcome }) => outcome === 'running').length;

	/** What must be true after a kill, once both workflows have run again. */
	async #checkEnd(when: string): Promise<void> {
		const { n8nHost, results, ids } = this.#parts;
		await this.#checkGoods();
		await this.#checkFiles(when);
		results.see('executions of the trigger repeated by hand', await n8nHost.retryFailedExecutions(ids.trigger));
		await this.#waitForLastChanges();
	}

	/**
	 * Waits until one of the write requests, and a moment during or after it. Both are random, spread
	 * over all of the work, however long it takes on this machine. Returns the number of the request.
	 */
	async #untilWrite(): Promise<number> {
		const { sandboxHost } = this.#parts;
		const count = this.#random.between(1, this.#usualWrites);
		const end = Date.now() + 2 * this.#usualMs;
		while ((await sandboxHost.writes()).filter(isOfWorkflows).length < count && Date.now() < end) {
			await sleep(5);
		}
		await sleep(this.#random.next() * LATENCY_MS * 2);
		// Between two of them there is nothing to interrupt: go on to the next one, if there is any.
		const next = Date.now() + NEXT_WRITE_MS;
		while ((await this.#countWriting()) === 0 && Date.now() < next) await sleep(5);
		return count;
	}

	/** Waits until the trigger reads its next page of changes, and up to the end of its poll. */
	async #untilTriggerReads(): Promise<void> {
		const { sandboxHost } = this.#parts;
		const pages = async () =>
			(await sandboxHost.admin.requests()).filter(
				({ path, query, records }) => path.endsWith(`/${GOODS}/data`) && query.includes('modified') && (records ?? 0) > 1,
			).length;
		const before = await pages();
		const end = Date.now() + POLL_TIMEOUT_MS;
		while ((await pages()) === before && Date.now() < end) await sleep(5);
		await sleep(this.#random.between(0, POLL_MS));
	}

	async #runBoth(): Promise<Outcome> {
		const { n8nHost, ids } = this.#parts;
		const [sync, uploads] = await Promise.all([n8nHost.run(ids.sync), n8nHost.run(ids.uploads)]);
		return { sync, uploads };
	}

	async #countWritten(): Promise<number> {
		const { sandboxHost, sizes } = this.#parts;
		const missing = missingKeys(await sandboxHost.records(GOODS), goodsOf(this.#round, sizes));
		return sizes.goods - missing.length;
	}

	async #checkTruth({ sync, uploads }: Outcome, before: StoredRecord[]): Promise<void> {
		const { sandboxHost, results, sizes } = this.#parts;
		if (!sync || !uploads) {
			results.check('both workflows come to their end', ['n8n was killed']);
			return;
		}
		for (const execution of [sync, uploads]) {
			results.check('the workflow ends well', [describeFailure(execution) ?? ''].filter(Boolean));
		}
		const goods = goodsOf(this.#round, sizes);
		const { wrong: untrue, outcomes } = checkOutcomes(sync, goods, before, await sandboxHost.records(GOODS));
		results.check('the outcome of each item is true', untrue);
		for (const [outcome, times] of Object.entries(outcomes)) {
			results.see(`items ${outcome}`, times);
		}
		const files = checkUploads(uploads, this.#cases, await sandboxHost.records(CASES));
		results.check('the outcome of each upload is true', files.wrong);
		for (const [outcome, times] of Object.entries(files.tally)) {
			results.see(`uploads ${outcome}`, times);
		}
	}

	async #checkGoods(): Promise<void> {
		const { sandboxHost, results } = this.#parts;
		const stored = await sandboxHost.records(GOODS);
		results.check('no item is there twice', duplicateKeys(stored, 'sku'));
		results.check('no item is lost', missingKeys(stored, this.#goods.values()));
		results.check('nothing else is there', stored.length > this.#goods.size ? [`${stored.length} records`] : []);
	}

	async #checkFiles(when: string): Promise<void> {
		const { sandboxHost, results } = this.#parts;
		const stored = await sandboxHost.records(CASES);
		results.check('no record of an upload is there twice', duplicateKeys(stored, 'number'));
		for (const field of FILE_FIELDS) {
			const { missing, several } = checkFileCounts(stored, this.#cases, field);
			results.check(`each record has its file (${field})`, missing);
			// Keep, without Skip Existing: what was uploaded before the kill is uploaded again.
			if (field !== 'kept') results.check(`each record has its file once (${field})`, several);
			else results.see(`files doubled by Keep without Skip Existing, ${when}`, several.length);
		}
	}

	/** Waits until the workflow that the trigger starts has written each last change. */
	async #waitForLastChanges(): Promise<void> {
		const { sandboxHost, pollLog, results } = this.#parts;
		const end = Date.now() + EMIT_TIMEOUT_MS;
		const goods = await sandboxHost.records(GOODS);
		for (;;) {
			// Nothing is ever deleted there, so what is new comes last.
			for (const name of await sandboxHost.receivedChanges(this.#arrived.size)) this.#arrived.add(name);
			const missing = goods.filter((record) => !this.#arrived.has(nameOf(record)));
			const open = missing.filter(({ id, ver, modified }) => !pollLog.isInGap({ id, ver, at: modified }));
			if (open.length === 0 || Date.now() > end) {
				results.check('each change has arrived', open.map(nameOf));
				return;
			}
			await sleep(500);
		}
	}
}
