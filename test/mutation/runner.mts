/** Stryker's test runner for the unit tests in its own process; `unitTests.mts` says why. */
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
import { UnitTests } from './unitTests.mts';

/** What the mutated source and this runner share. */
const context: InstrumenterContext = {};
Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: context });

// A mutant may leave a promise that nobody waits for: its test fails, the process goes on.
process.on('unhandledRejection', () => undefined);

/** What processes share, in their working directory: a copy of the repository. */
const SHARED = '.mutants';
const DURATIONS = `${SHARED}/durations.json`;

/** A mutant in an endless loop passes its place more often in one test than all tests did without it. */
const MAX_HITS_FACTOR = 2;
const MIN_HITS = 1000;

class InProcessRunner implements TestRunner {
	#tests?: UnitTests;
	/** For the watchdog: how many tests were begun and ended, and how long the last one may compute. */
	readonly #watched = new Int32Array(new SharedArrayBuffer(8));

	capabilities() {
		// What a module computes while it is loaded is not mutated (`ignoreStatic`), so there is nothing
		// to reload. Stryker would start a new process for each mutant that such code passes too.
		return { reloadEnvironment: true };
	}

	/** Stryker starts each process in a copy of the repository. */
	async init() {
		this.#tests = new UnitTests(process.cwd());
		mkdirSync(SHARED, { recursive: true });
		if (existsSync(DURATIONS)) {
			this.#tests.durations = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>;
		}
		new Worker(new URL('watchdog.mts', import.meta.url), {
			workerData: this.#watched.buffer,
		}).unref();
	}

	async dryRun(): Promise<DryRunResult> {
		const tests: TestResult[] = [];
		for (const test of this.#tests!.all) {
			const { id } = test;
			context.currentTestId = id;
			const started = performance.now();
			const failureMessage = await this.#tests!.run(test);
			const timeSpentMs = performance.now() - started;
			tests.push(
				failureMessage === undefined
					? { id, name: id, timeSpentMs, status: TestStatus.Success }
					: { id, name: id, timeSpentMs, status: TestStatus.Failed, failureMessage },
			);
		}
		context.currentTestId = undefined;
		writeFileSync(DURATIONS, JSON.stringify(this.#tests!.durations));
		return { status: DryRunStatus.Complete, tests, mutantCoverage: context.mutantCoverage };
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

	async #runMutant({
		activeMutant,
		testFilter,
		hitLimit,
		disableBail,
	}: MutantRunOptions): Promise<MutantRunResult> {
		const killedBy: string[] = [];
		let failureMessage = '';
		let nrOfTests = 0;
		let reason: string | undefined;
		// Stryker allows a hundred times the hits of all tests.
		const maxHits = hitLimit && Math.max(MIN_HITS, (hitLimit / 100) * MAX_HITS_FACTOR);
		context.hitLimit = maxHits;
		context.activeMutant = activeMutant.id;
		for (const test of this.#tests!.fastestFirst(testFilter)) {
			nrOfTests += 1;
			context.hitCount = maxHits === undefined ? undefined : 0;
			const maxMs = this.#tests!.maxDuration(test);
			Atomics.store(this.#watched, 1, maxMs / 2);
			Atomics.add(this.#watched, 0, 1);
			const failure = await this.#tests!.run(test, maxMs);
			Atomics.add(this.#watched, 0, 1);
			reason ??= determineHitLimitReached(context.hitCount, maxHits)?.reason;
			if (failure === undefined) continue;
			killedBy.push(test.id);
			failureMessage ||= failure;
			if (!disableBail) break;
		}
		context.activeMutant = undefined;
		if (reason) return { status: MutantRunStatus.Timeout, reason };
		return killedBy.length > 0
			? { status: MutantRunStatus.Killed, killedBy, failureMessage, nrOfTests }
			: { status: MutantRunStatus.Survived, nrOfTests };
	}
}

export const strykerPlugins = [
	declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner as never),
];
