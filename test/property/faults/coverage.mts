/** Counts how often each thing happened, to notice what a generator never makes. */
import type { LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import { FAULTS, faultsOf, hasEffect, isAmbiguous } from './faults.mts';
import { isWrite } from './requests.mts';
import { sharers } from './foreseen.mts';
import { OPERATIONS } from './schedule.mts';
import type { Trial } from './trial.mts';

const KINDS = ['done', 'failed', 'unknown', 'notReached'] as const;

/** In how many of a thousand schedules each must have been seen at least. */
const LEAST_PER_THOUSAND = 2;

const EXPECTED = [
	'lost, then refused',
	'lost, then asked to wait',
	'lost twice',
	'three faults in a row',
	'look-up failed',
	'records not written',
	'records not listed',
	'batch divided',
	'files added',
	'files replaced',
	'files by address',
	'messages',
	'two forms of one key',
	'another writer',
	'field rules',
	'field rules beside another writer',
	'a field was kept',
	'an empty field was filled',
	'seconds',
	'retry on fail',
	'stopped with an error',
	'merged',
];

/** The faults that the requests for one item met, in order. */
function rowsOf(writes: LoggedRequest[]): string[] {
	const met = writes.map((request) => ({ request, names: faultsOf(request) }));
	const seen: string[] = [];
	met.forEach(({ request, names }, at) => {
		const next = met[at + 1];
		if (names.length === 0 || !next || next.names.length === 0) return;
		if (!isAmbiguous(request)) return;
		const effects = next.names.map((name) => FAULTS[name].effect);
		if (effects.some((effect) => ['ends', 'refuses'].includes(effect))) {
			seen.push('lost, then refused');
		}
		if (effects.includes('waits')) seen.push('lost, then asked to wait');
		if (effects.includes('ambiguous')) seen.push('lost twice');
		if (met[at + 2]?.names.length) seen.push('three faults in a row');
	});
	return seen;
}

export class Coverage {
	readonly #counts = new Map<string, number>();
	readonly #outcomes = new Map<string, number>();
	readonly #reasons = new Map<string, number>();
	#schedules = 0;
	#requests = 0;

	add(trial: Trial): void {
		const { testCase, evidence } = trial;
		this.#schedules += 1;
		this.#requests += evidence.requests.length;
		const seen = new Set<string>(testCase.items.flatMap((item) => rowsOf(trial.writes(item))));
		const { settings, items } = testCase;
		const files = items.flatMap((item) => item.files ?? []);
		if (files.some(({ kind }) => kind === 'add')) seen.add('files added');
		if (files.some(({ kind }) => kind === 'list')) seen.add('files replaced');
		if (items.some(({ data }) => typeof data.json.papers === 'string')) seen.add('files by address');
		if (items.some(({ messages }) => messages)) seen.add('messages');
		const isOtherForm = (item: (typeof items)[number]) =>
			sharers(testCase, item).some(({ data }) => data.json.code !== item.data.json.code);
		if (items.some(isOtherForm)) seen.add('two forms of one key');
		if (trial.hasOtherWriter) seen.add('another writer');
		if (Object.values(testCase.fieldRules).some((rule) => rule !== 'always')) {
			seen.add('field rules');
			if (trial.hasOtherWriter) seen.add('field rules beside another writer');
		}
		if (trial.rules.seen.has('kept')) seen.add('a field was kept');
		if (trial.rules.seen.has('filled')) seen.add('an empty field was filled');
		if (settings.timePrecisionMs === 1000) seen.add('seconds');
		if (testCase.tries > 1) seen.add('retry on fail');
		if (evidence.result.stop) seen.add('stopped with an error');
		const isLookUpFailed = (request: LoggedRequest) => !isWrite(request) && faultsOf(request).length > 0;
		if (evidence.requests.some(isLookUpFailed)) seen.add('look-up failed');
		if (evidence.requests.some((request) => hasEffect(request, 'records'))) seen.add('records not written');
		if (evidence.requests.some((request) => hasEffect(request, 'response'))) seen.add('records not listed');
		const itemsIn = ({ faults }: LoggedRequest) => faults.filter((id) => id.startsWith('item ')).length;
		const isDivided = (request: LoggedRequest) => [400, 413, 422].includes(request.status ?? 0) && itemsIn(request) > 1;
		if (evidence.requests.some(isDivided)) seen.add('batch divided');
		for (const result of evidence.result.items) {
			const key = `${testCase.operation} ${result.kind}`;
			this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + 1);
			if (result.kind !== 'done') continue;
			if (result.outputs.some(({ json }) => typeof json.mergedInto === 'number')) seen.add('merged');
		}
		for (const reason of trial.reasons) {
			this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
		}
		for (const name of seen) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
	}

	/** What was seen too rarely. */
	get missing(): string[] {
		const least = Math.floor((this.#schedules / 1000) * LEAST_PER_THOUSAND);
		return EXPECTED.filter((name) => (this.#counts.get(name) ?? 0) < least);
	}

	/** The table to print. */
	toString(): string {
		const cell = (text: string | number) => String(text).padStart(11);
		const entries = (counts: Map<string, number>) => [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
		return [
			`${'items'.padEnd(12)}${KINDS.map(cell).join('')}`,
			...OPERATIONS.map((operation) => {
				const counts = KINDS.map((kind) => this.#outcomes.get(`${operation} ${kind}`) ?? 0);
				return `${operation.padEnd(12)}${counts.map(cell).join('')}`;
			}),
			'',
			`Schedules with: ${entries(this.#counts).join(' · ')}`,
			`Unknown because: ${entries(this.#reasons).join(' · ') || 'none'}`,
			'',
			`${this.#requests} requests`,
		].join('\n');
	}
}
