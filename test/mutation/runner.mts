/** Stryker's test runner for the unit tests in its own process; `../support/testsInProcess.mts` says why. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
	determineHitLimitReached,
	DryRunStatus,
	MutantRunStatus,
	TestStatus,
	type DryRunResult,
	type MutantRunOptions,
	type MutantRunResult,
	type TestResult,
	type TestRunner,
} from '@stryker-mutator/api/test-runner';
import { IS_PART } from '../support/part.mts';
import { TestsInProcess } from '../support/testsInProcess.mts';

/** What the mutated source and this runner share. */
const context: InstrumenterContext = {};
Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: context });

/** Those of speed are left out, and tests that draw at random draw little: there are thousands of mutants. */
const TESTS = { leftOut: /^patterns|\bat scale\b/, seed: 1, numRuns: 10 };

/** What processes share, in their working directory: a copy of the repository. */
const SHARED = '.mutants';
const DRY_RUN = `${SHARED}/dryRun.json`;

/** What the run without mutants was like: how long tests took, how often places were passed. */
interface DryRun {
	durations: Record<string, number>;
	/** By mutant: in the test that passed its place most often. */
	hits: Record<string, number>;
}

/** A mutant in an endless loop passes its place more often than any test did without it. */
const MAX_HITS_FACTOR = 4;
const MIN_HITS = 1000;

class InProcessRunner implements TestRunner {
	#tests?: TestsInProcess;
	#hits?: DryRun['hits'];
	/** For the watchdog: how many tests were begun and ended, and how long the last one may compute. */
	readonly #watched = new Int32Array(new SharedArrayBuffer(8));

	capabilities() {
		// What a module computes while it is loaded is not mutated (`ignoreStatic`), so there is nothing
		// to reload. Stryker would start a new process for each mutant that such code passes too.
		return { reloadEnvironment: true };
	}

	/** Stryker starts each process in a copy of the repository. */
	async init() {
		// A mutant may leave a promise that nobody waits for: its test fails, the process goes on. Not at
		// the top of this file: Stryker's main process loads it too, and must fail when it fails.
		process.on('unhandledRejection', () => undefined);
		this.#tests = new TestsInProcess(process.cwd(), 'unit', TESTS);
		mkdirSync(SHARED, { recursive: true });
		new Worker(new URL('watchdog.mts', import.meta.url), { workerData: this.#watched.buffer }).unref();
	}

	async dryRun(): Promise<DryRunResult> {
		const tests: TestResult[] = [];
		// In the gate those are enough that reach the file that it mutates.
		const chosen = this.#tests!.all.filter(({ id }) => !IS_PART || id.startsWith('bulk/resolve/'));
		for (const test of chosen) {
			const { id } = test;
			context.currentTestId = id;
			const started = performance.now();
			const failure = await this.#tests!.run(test);
			const result = { id, name: id, timeSpentMs: performance.now() - started };
			tests.push(
				failure ? { ...result, status: TestStatus.Failed, failureMessage: failure.message } : { ...result, status: TestStatus.Success },
			);
		}
		context.currentTestId = undefined;
		const { mutantCoverage } = context;
		const hits: DryRun['hits'] = {};
		for (const counts of Object.values(mutantCoverage?.perTest ?? {})) {
			for (const [id, count] of Object.entries(counts)) {
				hits[id] = Math.max(hits[id] ?? 0, count);
			}
		}
		const { durations } = this.#tests!;
		writeFileSync(DRY_RUN, JSON.stringify({ durations, hits } satisfies DryRun));
		return { status: DryRunStatus.Complete, tests, mutantCoverage };
	}

	/** How often the test without the mutant that passed its place most often did so. */
	#hitsOf(mutant: string): number {
		// Not before: all processes but one are begun while that one makes the dry run.
		if (!this.#hits) {
			const { durations, hits } = JSON.parse(readFileSync(DRY_RUN, 'utf8')) as DryRun;
			this.#tests!.durations = durations;
			this.#hits = hits;
		}
		return this.#hits[mutant] ?? 0;
	}

	async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
		// What goes on behind a test that did not end would count against the next mutant. Stryker
		// tries that one again in a new process.
		if (this.#tests!.isLeaking) process.exit();
		const begun = `${SHARED}/${options.activeMutant.id}`;
		if (existsSync(begun)) {
			return { status: MutantRunStatus.Timeout, reason: 'Its process had to be ended' };
		}
		writeFileSync(begun, '');
		const result = await this.#runMutant(options);
		rmSync(begun);
		return result;
	}

	async #runMutant({ activeMutant, testFilter, disableBail }: MutantRunOptions): Promise<MutantRunResult> {
		const killedBy: string[] = [];
		let failureMessage = '';
		let nrOfTests = 0;
		let reason: string | undefined;
		// Stryker's own limit, a hundred times the hits of all tests, takes seconds to reach.
		const maxHits = Math.max(MIN_HITS, this.#hitsOf(activeMutant.id) * MAX_HITS_FACTOR);
		context.hitLimit = maxHits;
		context.activeMutant = activeMutant.id;
		for (const test of this.#tests!.fastestFirst(testFilter)) {
			nrOfTests += 1;
			context.hitCount = 0;
			Atomics.store(this.#watched, 1, this.#tests!.maxComputing(test));
			Atomics.add(this.#watched, 0, 1);
			const failure = await this.#tests!.run(test, this.#tests!.maxDuration(test));
			Atomics.add(this.#watched, 0, 1);
			reason ??= determineHitLimitReached(context.hitCount, maxHits)?.reason;
			if (failure === undefined) continue;
			killedBy.push(test.id);
			failureMessage ||= failure.message;
			if (!disableBail) break;
		}
		context.activeMutant = undefined;
		if (reason) return { status: MutantRunStatus.Timeout, reason };
		return killedBy.length > 0
			? { status: MutantRunStatus.Killed, killedBy, failureMessage, nrOfTests }
			: { status: MutantRunStatus.Survived, nrOfTests };
	}
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner as never)];
