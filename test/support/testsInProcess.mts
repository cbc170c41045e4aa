/**
 * The tests of a folder in this process: loaded once, run once or as often as there are mutants. What Jest
 * does anew for each file (a realm, its modules) takes a second or two; most tests take a millisecond. The
 * parts that the tests see (`expect`, mocks, fake timers, tables) are Jest's own.
 */
import { readdirSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModernFakeTimers } from '@jest/fake-timers';
import { transformFileSync } from '@swc/core';
import { expect } from 'expect';
import { bind } from 'jest-each';
import { ModuleMocker } from 'jest-mock';

/** A mutant may make a test wait for ever: it gets so many times what it took without, and this at least. */
const TIME_FACTOR = 4;
const MIN_TIME_MS = 3000;

/** As above, of computing time: that of a busy machine is not longer. */
const MIN_COMPUTING_MS = 600;

/** How often to check whether a test can still end. */
const LOOK_EVERY_MS = 20;

/**
 * If nothing is running this many times in a row, a test waits in vain. Work in Node's other
 * threads, such as gzip, does not show as running, and takes less time.
 */
const MAX_IDLE_LOOKS = 25;

type Step = () => unknown;

interface Block {
	name: string;
	outer: Block | undefined;
	/** Before its first test, and after its last one. */
	first: Step[];
	last: Step[];
	/** Before and after each test. */
	before: Step[];
	after: Step[];
}

export interface LoadedTest {
	/** Its file and title, different for each test. */
	id: string;
	block: Block;
	body: Step;
	/** The longest time that it took so far. */
	passedInMs: number;
}

// Taken before a test fakes them.
const { setInterval, clearInterval, performance } = globalThis;

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ global: globalThis, config: { fakeTimers: {}, rootDir: '/' } as never });

const pathOf = ({ name, outer }: Block): string => (outer ? `${pathOf(outer)} ${name}` : name);

/** How many timers, files and connections are under way. */
const activity = () => process.getActiveResourcesInfo().length;

const chain = (block: Block): Block[] => [...(block.outer ? chain(block.outer) : []), block];

/** Lets `require` read TypeScript, as the tests and the source are written in. */
function readTypeScript() {
	const { _extensions: extensions } = Module as unknown as { _extensions: Record<string, (module: Compiled, file: string) => void> };
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
				sourceMaps: process.sourceMapsEnabled ? 'inline' : false,
			});
			module._compile(code, file, 'commonjs');
		};
	}
}

export class TestsInProcess {
	readonly all: LoadedTest[] = [];
	/** Whether something goes on behind a test that did not end. */
	isLeaking = false;
	#atRest = Infinity;
	readonly #byId = new Map<string, LoadedTest>();
	readonly #ids = new Map<string, number>();
	#block: Block | undefined;
	#entered: Block[] = [];
	/** What the source keeps from one execution to the next: Jest has it anew for each file. */
	readonly #keptTables: Map<string, unknown>;
	readonly #leftOut: RegExp;

	/**
	 * @param root the folder of the repository
	 * @param name the folder of `test/`
	 * @param leftOut the files, or tests by their file and title, that do not run
	 * @param seed where tests that draw at random begin
	 * @param numRuns how often they draw
	 */
	constructor(root: string, name: string, { leftOut, seed, numRuns }: { leftOut: RegExp; seed: number; numRuns: number }) {
		this.#leftOut = leftOut;
		readTypeScript();
		Object.assign(globalThis, this.#globals());
		const folder = join(root, 'test', name);
		const require = createRequire(join(folder, 'index.cjs'));
		const source = join(root, 'nodes', 'DataPlatform', 'api', 'table.ts');
		this.#keptTables = (require(source) as { keptTables: Map<string, unknown> }).keptTables;
		(require('fast-check') as typeof import('fast-check')).configureGlobal({
			seed,
			numRuns,
			// One input that fails is enough; no smaller one is looked for.
			endOnFailure: true,
		});
		const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.cts'));
		for (const file of files.filter((name) => !leftOut.test(name)).sort()) {
			this.#describe(file, () => require(join(folder, file)));
		}
	}

	#globals() {
		const describe = (name: string, body: Step) => this.#describe(name, body);
		const test = (title: string, body: Step) => this.#add(title, body);
		const useFakeTimers = (config?: object) =>
			// Node's streams share this process, so its ticks stay real.
			timers.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'], ...config });
		return {
			describe: Object.assign(describe, { each: bind(describe as never, false), skip: () => undefined }),
			test: Object.assign(test, { each: bind(test as never, false) }),
			beforeAll: (step: Step) => this.#block?.first.push(step),
			afterAll: (step: Step) => this.#block?.last.unshift(step),
			beforeEach: (step: Step) => this.#block?.before.push(step),
			afterEach: (step: Step) => this.#block?.after.unshift(step),
			expect,
			jest: {
				fn: mocker.fn.bind(mocker),
				spyOn: mocker.spyOn.bind(mocker),
				restoreAllMocks: () => mocker.restoreAllMocks(),
				useFakeTimers,
				useRealTimers: () => timers.useRealTimers(),
				setSystemTime: (now: number) => timers.setSystemTime(now),
				getTimerCount: () => timers.getTimerCount(),
				advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
				advanceTimersByTimeAsync: async (ms: number) => await timers.advanceTimersByTimeAsync(ms),
				runAllTimersAsync: async () => await timers.runAllTimersAsync(),
			},
		};
	}

	#describe(name: string, body: Step) {
		const outer = this.#block;
		this.#block = { name, outer, first: [], last: [], before: [], after: [] };
		body();
		this.#block = outer;
	}

	#add(title: string, body: Step) {
		const block = this.#block!;
		const name = `${pathOf(block)} ${title}`;
		const count = (this.#ids.get(name) ?? 0) + 1;
		this.#ids.set(name, count);
		const id = count === 1 ? name : `${name} (${count})`;
		if (this.#leftOut.test(id)) return;
		const test = { id, block, body, passedInMs: 0 };
		this.all.push(test);
		this.#byId.set(id, test);
	}

	/** A mutant is done with at the first test that fails: that had better be a fast one. */
	fastestFirst(ids: string[] | undefined): LoadedTest[] {
		const chosen = ids ? ids.map((id) => this.#byId.get(id)!) : [...this.all];
		return chosen.sort((one, other) => one.passedInMs - other.passedInMs);
	}

	/** What each test took, in milliseconds. */
	get durations(): Record<string, number> {
		return Object.fromEntries(this.all.map(({ id, passedInMs }) => [id, passedInMs]));
	}

	/** Takes over what each test took in another process. */
	set durations(durations: Record<string, number>) {
		for (const test of this.all) test.passedInMs = durations[test.id] ?? test.passedInMs;
	}

	/** How long a test may take with a mutant, in milliseconds. */
	maxDuration = ({ passedInMs }: LoadedTest) => Math.max(MIN_TIME_MS, passedInMs * TIME_FACTOR);

	/** How long a test may compute with a mutant, in milliseconds. */
	maxComputing = ({ passedInMs }: LoadedTest) => Math.max(MIN_COMPUTING_MS, passedInMs * TIME_FACTOR);

	/** What stands before the first test of a block and after its last one; without a test, what is left. */
	async enter(test?: LoadedTest): Promise<void> {
		const blocks = test ? chain(test.block) : [];
		for (const block of this.#entered.filter((block) => !blocks.includes(block)).reverse()) {
			for (const step of block.last) await step();
		}
		const entered = blocks.filter((block) => !this.#entered.includes(block));
		this.#entered = blocks;
		for (const { first } of entered) for (const step of first) await step();
	}

	/** @returns why the test failed; undefined if it passed */
	async run(test: LoadedTest, maxMs = Infinity): Promise<Error | undefined> {
		const { id, block, body } = test;
		const started = performance.now();
		let looking: NodeJS.Timeout | undefined;
		this.#atRest = Math.min(this.#atRest, activity());
		this.#keptTables.clear();
		const stuck = new Promise<never>((_, reject) => {
			if (maxMs === Infinity) return;
			let idleLooks = 0;
			looking = setInterval(() => {
				idleLooks = activity() <= this.#atRest ? idleLooks + 1 : 0;
				const isLate = performance.now() - started > maxMs;
				if (idleLooks < MAX_IDLE_LOOKS && !isLate) return;
				this.isLeaking ||= isLate;
				reject(new Error(isLate ? 'The test does not end' : 'The test waits for nothing'));
			}, LOOK_EVERY_MS).unref();
		});
		try {
			await Promise.race([runWhole(id, block, body), stuck]);
			test.passedInMs = Math.max(test.passedInMs, performance.now() - started);
			return undefined;
		} catch (error) {
			return error instanceof Error ? error : new Error(String(error));
		} finally {
			clearInterval(looking);
			timers.useRealTimers();
		}
	}
}

async function runWhole(id: string, block: Block, body: Step) {
	const blocks = chain(block);
	expect.setState({ assertionCalls: 0, expectedAssertionsNumber: null, currentTestName: id });
	// As test/jest.setup.cjs says.
	expect.hasAssertions();
	try {
		for (const { before } of blocks) for (const step of before) await step();
		await body();
	} finally {
		for (const { after } of blocks.reverse()) for (const step of after) await step();
	}
	const [missing] = expect.extractExpectedAssertionsErrors();
	if (missing) throw missing.error;
}
