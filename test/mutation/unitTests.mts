/**
 * The unit tests in this process: loaded once, run as often as there are mutants. What Jest does anew
 * for each file (a realm, its modules) takes a second; a test itself takes a millisecond. The parts that
 * the tests see (`expect`, mocks, fake timers, tables) are Jest's own.
 */
import { readdirSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModernFakeTimers } from '@jest/fake-timers';
import { transformFileSync } from '@swc/core';
import { expect } from 'expect';
import { bind } from 'jest-each';
import { ModuleMocker } from 'jest-mock';

/** Slow random tests, and those of speed: they run in `npm test`. */
const LEFT_OUT = /AtRandom|scale\.test|files\.test/;

/** Of a test that draws at random: for each of thousands of mutants. */
const RANDOM_RUNS = 20;

/** No unit test takes so long; a mutant may make it wait for ever. */
const TEST_TIMEOUT_MS = 3000;

type Step = () => unknown;

interface Block {
	name: string;
	outer: Block | undefined;
	before: Step[];
	after: Step[];
}

interface UnitTest {
	/** Its file and title, different for each test. */
	id: string;
	block: Block;
	body: Step;
	/** The longest time that it took so far. */
	passedInMs: number;
}

// Taken before a test fakes them.
const { setTimeout, clearTimeout } = globalThis;

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
	global: globalThis,
	config: { fakeTimers: {}, rootDir: '/' } as never,
});

const pathOf = ({ name, outer }: Block): string => (outer ? `${pathOf(outer)} ${name}` : name);

const chain = (block: Block): Block[] => [...(block.outer ? chain(block.outer) : []), block];

/** Lets `require` read TypeScript, as the tests and the source are written in. */
function readTypeScript() {
	const { _extensions: extensions } = Module as unknown as {
		_extensions: Record<string, (module: Compiled, file: string) => void>;
	};
	interface Compiled {
		_compile(code: string, file: string, format: 'commonjs'): void;
	}
	for (const extension of ['.ts', '.cts', '.mts']) {
		extensions[extension] = (module, file) => {
			const { code } = transformFileSync(file, {
				configFile: false,
				swcrc: false,
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs' },
			});
			module._compile(code, file, 'commonjs');
		};
	}
}

export class UnitTests {
	readonly all: UnitTest[] = [];
	readonly #ids = new Map<string, number>();
	#block: Block | undefined;

	/** @param root the folder that holds `test/unit` */
	constructor(root: string) {
		readTypeScript();
		Object.assign(globalThis, this.#globals());
		const folder = join(root, 'test', 'unit');
		const require = createRequire(join(folder, 'index.cjs'));
		(require('fast-check') as typeof import('fast-check')).configureGlobal({
			seed: 1,
			numRuns: RANDOM_RUNS,
		});
		const files = readdirSync(folder).filter((name) => name.endsWith('.test.cts'));
		for (const file of files.filter((name) => !LEFT_OUT.test(name)).sort()) {
			this.#describe(file, () => require(join(folder, file)));
		}
	}

	#globals() {
		const describe = (name: string, body: Step) => this.#describe(name, body);
		const test = (title: string, body: Step) => this.#add(title, body);
		const useFakeTimers = (config?: never) => timers.useFakeTimers(config);
		return {
			describe: Object.assign(describe, { each: bind(describe as never, false) }),
			test: Object.assign(test, { each: bind(test as never, false) }),
			beforeEach: (step: Step) => this.#block?.before.push(step),
			afterEach: (step: Step) => this.#block?.after.unshift(step),
			expect,
			jest: {
				fn: mocker.fn.bind(mocker),
				spyOn: mocker.spyOn.bind(mocker),
				restoreAllMocks: () => mocker.restoreAllMocks(),
				useFakeTimers,
				useRealTimers: () => timers.useRealTimers(),
				advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
				advanceTimersByTimeAsync: async (ms: number) => await timers.advanceTimersByTimeAsync(ms),
				runAllTimersAsync: async () => await timers.runAllTimersAsync(),
			},
		};
	}

	#describe(name: string, body: Step) {
		const outer = this.#block;
		this.#block = { name, outer, before: [], after: [] };
		body();
		this.#block = outer;
	}

	#add(title: string, body: Step) {
		const block = this.#block!;
		const name = `${pathOf(block)} ${title}`;
		const count = (this.#ids.get(name) ?? 0) + 1;
		this.#ids.set(name, count);
		this.all.push({ id: count === 1 ? name : `${name} (${count})`, block, body, passedInMs: 0 });
	}

	/** A mutant is done with at the first test that fails: that had better be a fast one. */
	fastestFirst(): UnitTest[] {
		return [...this.all].sort((one, other) => one.passedInMs - other.passedInMs);
	}

	/** @returns why the test failed; undefined where it passed */
	async run(test: UnitTest): Promise<string | undefined> {
		const { id, block, body } = test;
		const started = performance.now();
		let timeout: NodeJS.Timeout | undefined;
		const late = new Promise<never>((_, reject) => {
			timeout = setTimeout(() => reject(new Error('The test does not end')), TEST_TIMEOUT_MS);
		});
		try {
			await Promise.race([runWhole(id, block, body), late]);
			test.passedInMs = Math.max(test.passedInMs, performance.now() - started);
			return undefined;
		} catch (error) {
			return error instanceof Error ? error.message : String(error);
		} finally {
			clearTimeout(timeout);
			timers.useRealTimers();
		}
	}
}

async function runWhole(id: string, block: Block, body: Step) {
	const blocks = chain(block);
	expect.setState({ assertionCalls: 0, expectedAssertionsNumber: null, currentTestName: id });
	try {
		for (const { before } of blocks) for (const step of before) await step();
		await body();
		const [missing] = expect.extractExpectedAssertionsErrors();
		if (missing) throw missing.error;
	} finally {
		for (const { after } of blocks.reverse()) for (const step of after) await step();
	}
}
