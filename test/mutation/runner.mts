/** Stryker's test runner for the unit tests in its own process; `unitTests.mts` says why. */
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

class InProcessRunner implements TestRunner {
	#tests?: UnitTests;

	capabilities() {
		return { reloadEnvironment: false };
	}

	/** Stryker starts each process in a copy of the repository. */
	async init() {
		this.#tests = new UnitTests(process.cwd());
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
		return { status: DryRunStatus.Complete, tests, mutantCoverage: context.mutantCoverage };
	}

	async mutantRun({
		activeMutant,
		testFilter,
		hitLimit,
		disableBail,
	}: MutantRunOptions): Promise<MutantRunResult> {
		const wanted = testFilter && new Set(testFilter);
		const killedBy: string[] = [];
		let failureMessage = '';
		let nrOfTests = 0;
		context.hitCount = hitLimit === undefined ? undefined : 0;
		context.hitLimit = hitLimit;
		context.activeMutant = activeMutant.id;
		for (const test of this.#tests!.fastestFirst()) {
			if (wanted && !wanted.has(test.id)) continue;
			nrOfTests += 1;
			const failure = await this.#tests!.run(test);
			if (failure === undefined) continue;
			killedBy.push(test.id);
			failureMessage ||= failure;
			if (!disableBail) break;
		}
		context.activeMutant = undefined;
		const endless = determineHitLimitReached(context.hitCount, hitLimit);
		if (endless) return { status: MutantRunStatus.Timeout, reason: endless.reason };
		return killedBy.length > 0
			? { status: MutantRunStatus.Killed, killedBy, failureMessage, nrOfTests }
			: { status: MutantRunStatus.Survived, nrOfTests };
	}
}

export const strykerPlugins = [
	declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner as never),
];
