/** The rounds of a crash test: start, kill, start again, run again, look. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Execution, describeFailure } from '../../../harness/n8nApi.mts';
import type { LoggedRequest, StoredRecord } from '../../support/sandbox.cts';
import type { Chance } from '../../support/seededRandom.mts';
import { checkOutcomes, checkUploads, doubles, lost, withoutOneFile } from './checks.mts';
import { type Ledger, nameOf } from './pollLog.mts';
import type { Machine } from './n8nHost.mts';
import { CASES, FILE_FIELDS, GOODS, type Platform, TOLD } from './sandboxHost.mts';
import {
	type Case,
	casesOf,
	type Good,
	goodsOf,
	type Sizes,
	type Source,
} from './sourceServer.mts';
import type { Tally } from './tally.mts';

/** Before and after each write while something is to be killed, so that a kill falls into it. */
const LATENCY_MS = 60;
/** How long the trigger may take to tell all that it has to. */
const PATIENCE_MS = 90_000;
/** How long a killed sandbox is away; the node tries for longer. */
const AWAY_MS = [200, 1200] as const;
/** Of the kills of n8n, those that are timed by what the trigger reads. */
const AIMED_SHARE = 0.5;
/** From a page that the trigger reads to the end of its poll, about. */
const POLL_MS = 300;
/** How long until the trigger reads something; it polls every three seconds. */
const POLL_PATIENCE_MS = 6000;

export const KILLS_IN_WRITES = 'kills while a request wrote';

/** What the sync and the uploads write, and not what the trigger's workflow writes. */
const isOfWorkflows = ({ path }: LoggedRequest) => !path.includes(`/${TOLD}/`);

interface Parts {
	platform: Platform;
	machine: Machine;
	source: Source;
	ledger: Ledger;
	tally: Tally;
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
	readonly #chance: Chance;
	/** What the sync sent last for each key. */
	readonly #goods = new Map<string, Good>();
	#cases: Case[] = [];
	readonly #arrived = new Set<string>();
	#round = -1;
	/** How many requests write when nobody kills anything. */
	#usualWrites = 0;
	/** How long both workflows take when nobody kills anything. */
	#usualMs = 0;

	constructor(parts: Parts, chance: Chance) {
		this.#parts = parts;
		this.#chance = chance;
	}

	/** A round without a kill, which shows that all works and how long it takes. */
	async undisturbed(): Promise<void> {
		const { platform, tally } = this.#parts;
		this.#next('nobody is killed');
		await platform.slowDown(LATENCY_MS);
		await platform.clearRequests();
		const before = await platform.records(GOODS);
		const began = Date.now();
		const done = await this.#runBoth();
		this.#usualMs = Date.now() - began;
		this.#usualWrites = (await platform.writes()).filter(isOfWorkflows).length;
		await platform.slowDown(0);
		await this.#checkTruth(done, before);
		await this.#checkGoods();
		await this.#checkFiles('at the first run');
		await this.#waitUntilTold();
		tally.count('ms that a run takes with nobody killed', this.#usualMs);
	}

	/** n8n is killed, started again, and both workflows are run again. */
	async killN8n(): Promise<void> {
		const { platform, machine, ledger, tally, ids } = this.#parts;
		this.#next('n8n is killed');
		await platform.slowDown(LATENCY_MS);
		await platform.clearRequests();
		const running = this.#runBoth();
		const isAimed = this.#chance.happens(AIMED_SHARE);
		const write = await this.#untilWrite();
		if (isAimed) await this.#untilTriggerReads();
		const writing = (await platform.writes()).filter(({ outcome }) => outcome === 'running').length;
		await machine.kill();
		const { sync, uploads } = await running;
		const written = await this.#countWritten();
		console.log(
			`  n8n killed in write ${write}${isAimed ? ' or later, while the trigger read' : ''}: ` +
				`${writing} requests were writing, ${written} of ${this.#parts.sizes.goods} items were written`,
		);
		tally.count('kills of n8n');
		if (writing > 0) tally.count(KILLS_IN_WRITES);
		if (!sync && written > 0) tally.count('kills of n8n in the middle of the sync');
		if (!uploads) tally.count('kills of n8n before the uploads had ended');

		await platform.slowDown(0);
		ledger.read();
		await machine.start();
		const before = await platform.records(GOODS);
		await this.#checkTruth(await this.#runBoth(), before);
		await this.#checkGoods();
		await this.#checkFiles('after n8n was killed and the workflow run again');
		tally.count(
			'executions of the trigger repeated by hand',
			await machine.repeatFailed(ids.trigger),
		);
		await this.#waitUntilTold();
	}

	/** The sandbox is killed and started again while n8n waits for its answers. */
	async killSandbox(): Promise<void> {
		const { platform, machine, tally, ids } = this.#parts;
		this.#next('the sandbox is killed');
		await platform.slowDown(LATENCY_MS);
		await platform.clearRequests();
		const before = await platform.records(GOODS);
		const running = this.#runBoth();
		const write = await this.#untilWrite();
		const writing = (await platform.writes()).filter(({ outcome }) => outcome === 'running').length;
		await platform.kill();
		const away = this.#chance.between(...AWAY_MS);
		await sleep(away);
		await platform.start();
		console.log(`  sandbox killed in write ${write}: ${writing} requests were writing`);
		tally.count('kills of the sandbox');
		if (writing > 0) tally.count(KILLS_IN_WRITES);

		const done = await running;
		await platform.slowDown(0);
		await this.#checkTruth(done, before);
		await this.#checkGoods();
		const again = await machine.run(ids.uploads);
		tally.check(
			'the uploads run again',
			again ? [describeFailure(again) ?? ''].filter(Boolean) : ['no'],
		);
		await this.#checkFiles('after the sandbox was killed and the workflow run again');
		tally.count(
			'executions of the trigger repeated by hand',
			await machine.repeatFailed(ids.trigger),
		);
		await this.#waitUntilTold();
	}

	/** Whether each last change was told, and once; n8n must not run. */
	async checkTold(): Promise<void> {
		const { platform, ledger, tally } = this.#parts;
		ledger.read();
		const last = (await platform.records(GOODS)).map(({ id, ver, modified }) => ({
			id,
			ver,
			at: modified,
		}));
		const missing = last.filter((change) => !ledger.told.has(nameOf(change)));
		const inGap = missing.filter((change) => ledger.isInGap(change));
		tally.count('last changes that were to be told', last.length);
		tally.count('of them told in no execution, in the gap between n8n’s two writes', inGap.length);
		tally.check(
			'each last change was told in an execution',
			missing.filter((change) => !ledger.isInGap(change)).map(nameOf),
		);
		const twice = [...ledger.told].filter(([, times]) => times > 1).map(([name]) => name);
		const byName = new Map(last.map((change) => [nameOf(change), change]));
		const excused = twice.filter((name) => {
			const change = byName.get(name);
			return change === undefined || ledger.isInOtherGap(change);
		});
		tally.count('changes told twice, in the gap between n8n’s two writes', excused.length);
		tally.check(
			'no change was told in two executions',
			twice.filter((name) => !excused.includes(name)),
		);
	}

	#next(what: string): void {
		this.#round += 1;
		const { source, sizes } = this.#parts;
		console.log(`Round ${this.#round}: ${what}`);
		source.round = this.#round;
		for (const good of goodsOf(this.#round, sizes)) this.#goods.set(good.sku, good);
		this.#cases = casesOf(this.#round, sizes);
	}

	/**
	 * Until any one of the requests that write, and any moment of it or a little later: spread over
	 * the whole of the work, however long that takes on this machine. Answers which one.
	 */
	async #untilWrite(): Promise<number> {
		const { platform } = this.#parts;
		const count = this.#chance.between(1, this.#usualWrites);
		const end = Date.now() + 2 * this.#usualMs;
		while ((await platform.writes()).filter(isOfWorkflows).length < count && Date.now() < end) {
			await sleep(5);
		}
		await sleep(this.#chance.next() * LATENCY_MS * 2);
		return count;
	}

	/** Until the trigger reads its next page of changes, and up to the end of its poll. */
	async #untilTriggerReads(): Promise<void> {
		const { platform } = this.#parts;
		const pages = async () =>
			(await platform.requests()).filter(
				({ path, query, records }) =>
					path.endsWith(`/${GOODS}/data`) && query.includes('modified') && (records ?? 0) > 1,
			).length;
		const before = await pages();
		const end = Date.now() + POLL_PATIENCE_MS;
		while ((await pages()) === before && Date.now() < end) await sleep(5);
		await sleep(this.#chance.between(0, POLL_MS));
	}

	async #runBoth(): Promise<Outcome> {
		const { machine, ids } = this.#parts;
		const [sync, uploads] = await Promise.all([machine.run(ids.sync), machine.run(ids.uploads)]);
		return { sync, uploads };
	}

	async #countWritten(): Promise<number> {
		const { platform, sizes } = this.#parts;
		const missing = lost(await platform.records(GOODS), goodsOf(this.#round, sizes));
		return sizes.goods - missing.length;
	}

	async #checkTruth({ sync, uploads }: Outcome, before: StoredRecord[]): Promise<void> {
		const { platform, tally, sizes } = this.#parts;
		if (!sync || !uploads) {
			tally.check('both workflows come to their end', ['n8n was killed']);
			return;
		}
		for (const execution of [sync, uploads]) {
			tally.check('the workflow ends well', [describeFailure(execution) ?? ''].filter(Boolean));
		}
		const goods = goodsOf(this.#round, sizes);
		const { untrue, outcomes } = checkOutcomes(sync, goods, before, await platform.records(GOODS));
		tally.check('what was told of each item is true', untrue);
		for (const [outcome, times] of Object.entries(outcomes)) {
			tally.count(`items told ${outcome}`, times);
		}
		const files = checkUploads(uploads, this.#cases, await platform.records(CASES));
		tally.check('what was told of each upload is true', files.untrue);
		for (const [outcome, times] of Object.entries(files.tally)) {
			tally.count(`uploads told ${outcome}`, times);
		}
	}

	async #checkGoods(): Promise<void> {
		const { platform, tally } = this.#parts;
		const stored = await platform.records(GOODS);
		tally.check('no item is there twice', doubles(stored, 'sku'));
		tally.check('no item is lost', lost(stored, this.#goods.values()));
		tally.check(
			'nothing else is there',
			stored.length > this.#goods.size ? [`${stored.length} records`] : [],
		);
	}

	async #checkFiles(when: string): Promise<void> {
		const { platform, tally } = this.#parts;
		const stored = await platform.records(CASES);
		tally.check('no record of an upload is there twice', doubles(stored, 'number'));
		for (const field of FILE_FIELDS) {
			const { missing, several } = withoutOneFile(stored, this.#cases, field);
			tally.check(`each record has its file (${field})`, missing);
			// Keep, without Skip Existing: what was uploaded before the kill is uploaded again.
			if (field !== 'kept') tally.check(`each record has its file once (${field})`, several);
			else tally.count(`files doubled by Keep without Skip Existing, ${when}`, several.length);
		}
	}

	/** Until the workflow that the trigger starts has written each last change. */
	async #waitUntilTold(): Promise<void> {
		const { platform, ledger, tally } = this.#parts;
		const end = Date.now() + PATIENCE_MS;
		const goods = await platform.records(GOODS);
		for (;;) {
			// Nothing is ever taken away there, so that what is new comes last.
			for (const name of await platform.arrived(this.#arrived.size)) this.#arrived.add(name);
			const missing = goods.filter((record) => !this.#arrived.has(nameOf(record)));
			const open = missing.filter(
				({ id, ver, modified }) => !ledger.isInGap({ id, ver, at: modified }),
			);
			if (open.length === 0 || Date.now() > end) {
				tally.check('each change has arrived', open.map(nameOf));
				return;
			}
			await sleep(500);
		}
	}
}
