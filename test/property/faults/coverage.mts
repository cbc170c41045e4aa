/** Counts how often each thing happened, to notice what a generator never makes. */
import { OUTCOMES, type Evidence } from './execute.mts';
import type { LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import { FAULT_NAMES, faultsOf, isAmbiguous } from './faults.mts';
import type { Case } from './schedule.mts';

const MODES = ['create', 'upsert', 'update', 'replace'] as const;

/** In how many of a thousand schedules each must have been seen at least. */
const LEAST_PER_THOUSAND = 2;

/** What random faults alone would hardly ever cause. */
const RARE = [
	'more than 1,000 items',
	'several batches under way',
	'lost, then rejected',
	'401 while a batch is divided',
	'another writer',
];

const writesOf = ({ requests }: Evidence) =>
	requests.filter(({ path }) => path.endsWith('/data/bulk'));

const endOf = ({ startedAt, milliseconds }: LoggedRequest) =>
	Date.parse(startedAt) + (milliseconds ?? 0);

const hasParallelWrites = (evidence: Evidence) =>
	writesOf(evidence).some(
		({ startedAt }, at, writes) => at > 0 && Date.parse(startedAt) < endOf(writes[at - 1]!),
	);

/** The marks of the items in a request. */
const itemsOf = ({ faults }: LoggedRequest) => faults.filter((id) => id.startsWith('item '));

const sharesItem = (one: LoggedRequest, other: LoggedRequest) =>
	itemsOf(one).some((id) => other.faults.includes(id));

const hasLostThenRejected = (evidence: Evidence) => {
	const writes = writesOf(evidence);
	const isRejected = ({ status }: LoggedRequest) => [400, 413, 422].includes(status ?? 0);
	return writes.some(
		(lost, at) =>
			isAmbiguous(lost) &&
			writes.slice(at + 1).some((later) => isRejected(later) && sharesItem(lost, later)),
	);
};

const isDeniedAfterRejection = (evidence: Evidence) => {
	const writes = writesOf(evidence);
	return writes.some(
		(rejected, at) =>
			[400, 422].includes(rejected.status ?? 0) &&
			itemsOf(rejected).length > 1 &&
			writes.slice(at + 1).some((later) => later.status === 401 && sharesItem(rejected, later)),
	);
};

export class Coverage {
	readonly #counts = new Map<string, number>();
	readonly #outcomes = new Map<string, number>();
	#schedules = 0;
	#requests = 0;

	add(
		{ mode, options, tries, onError, isKeyed, canRead, settings, items, matching }: Case,
		evidence: Evidence,
	): void {
		this.#schedules += 1;
		this.#requests += evidence.requests.length;
		const seen = new Set<string>(evidence.requests.flatMap(faultsOf));
		seen.add(isKeyed ? 'with import key' : 'without import key');
		seen.add(`batchFailure ${String(settings.batchFailure)}`);
		if (settings.recordIndex === false) seen.add('no RecordIndex');
		if (!canRead) seen.add('no right to read');
		if (options.importKey) seen.add('import key named');
		if (options.dryRun) seen.add('dry run');
		if (options.skipUnchanged && mode !== 'create') seen.add('skip unchanged');
		if (tries > 1) seen.add('retry on fail');
		if (matching) seen.add('matched by rules');
		if (items.length > 1000) seen.add('more than 1,000 items');
		if (hasParallelWrites(evidence)) seen.add('several batches under way');
		if (hasLostThenRejected(evidence)) seen.add('lost, then rejected');
		if (isDeniedAfterRejection(evidence)) seen.add('401 while a batch is divided');
		if (onError === 'continueErrorOutput') seen.add('error output');
		if (evidence.summary) seen.add('summary');
		if (evidence.history.length > evidence.written.length) seen.add('another writer');
		if (evidence.stop) seen.add('stopped with an error');
		if (seen.size === 2) seen.add('nothing went wrong');
		for (const { outcome, mergedInto } of evidence.results) {
			const key = `${mode} ${outcome}`;
			this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + 1);
			seen.add(outcome);
			if (mergedInto !== undefined) seen.add('merged');
		}
		for (const name of seen) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
	}

	/** What was seen too rarely. */
	get missing(): string[] {
		const least = Math.floor((this.#schedules / 1000) * LEAST_PER_THOUSAND);
		return [...OUTCOMES, ...FAULT_NAMES, ...RARE].filter(
			(name) => (this.#counts.get(name) ?? 0) < least,
		);
	}

	/** The table to print. */
	toString(): string {
		const cell = (text: string | number) => String(text).padStart(11);
		const outcomes = [
			`${'items'.padEnd(10)}${OUTCOMES.map(cell).join('')}`,
			...MODES.map((mode) => {
				const counts = OUTCOMES.map((name) => this.#outcomes.get(`${mode} ${name}`) ?? 0);
				return `${mode.padEnd(10)}${counts.map(cell).join('')}`;
			}),
		];
		const isFault = new Set<string>(FAULT_NAMES);
		const entries = (names: Iterable<string>) =>
			[...names].map((name) => `${name} ${this.#counts.get(name) ?? 0}`).join(' · ');
		const others = [...this.#counts.keys()].filter((name) => !isFault.has(name)).sort();
		return [
			...outcomes,
			'',
			`Schedules in which a fault was met: ${entries(FAULT_NAMES)}`,
			'',
			`Schedules with: ${entries(others)}`,
			'',
			`${this.#requests} requests`,
		].join('\n');
	}
}
