/** What happened in a schedule, to notice what a generator never makes. */
import type { LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import { FAULTS, faultsOf, hasEffect, isAmbiguous, type Effect } from './faults.mts';
import { isWrite } from './requests.mts';
import { sharers } from './foreseen.mts';
import type { Trial } from './trial.mts';

/** The requests for one item that met a fault and left it open, each with those of the next ones. */
function* lostIn(writes: LoggedRequest[]) {
	for (const [at, request] of writes.entries()) {
		const [met, ...next] = writes.slice(at, at + 3).map(faultsOf);
		if (met!.length > 0 && isAmbiguous(request)) yield next.map((names) => names.map((name): Effect => FAULTS[name].effect));
	}
}

/** Each must have happened in some schedules. */
export function situationsIn({ testCase, evidence, rules, hasOtherWriter, writes }: Trial): Record<string, boolean> {
	const { items, settings, tries, fieldRules } = testCase;
	const { requests, result } = evidence;
	const lost = items.flatMap((item) => [...lostIn(writes(item))]);
	const isNext = (...effects: Effect[]) => lost.some(([next]) => next?.some((effect) => effects.includes(effect)));
	const files = items.flatMap((item) => item.files ?? []);
	const codeOf = ({ data }: (typeof items)[number]) => data.json.code;
	const hasRules = Object.values(fieldRules).some((rule) => rule !== 'always');
	const countItems = ({ faults }: LoggedRequest) => faults.filter((id) => id.startsWith('item ')).length;
	const outputs = result.items.flatMap((item) => (item.kind === 'done' ? item.outputs : []));
	return {
		'lost, then refused': isNext('ends', 'refuses'),
		'lost, then asked to wait': isNext('waits'),
		'lost twice': isNext('ambiguous'),
		'three faults in a row': lost.some(([next = [], last = []]) => next.length > 0 && last.length > 0),
		'look-up failed': requests.some((request) => !isWrite(request) && faultsOf(request).length > 0),
		'records not written': requests.some((request) => hasEffect(request, 'records')),
		'records not listed': requests.some((request) => hasEffect(request, 'response')),
		'batch divided': requests.some((request) => [400, 413, 422].includes(request.status ?? 0) && countItems(request) > 1),
		'files added': files.some(({ kind }) => kind === 'add'),
		'files replaced': files.some(({ kind }) => kind === 'list'),
		'files by address': items.some(({ data }) => typeof data.json.papers === 'string'),
		messages: items.some(({ messages }) => messages),
		'two forms of one key': items.some((item) => sharers(testCase, item).some((other) => codeOf(other) !== codeOf(item))),
		'another writer': hasOtherWriter,
		'field rules': hasRules,
		'field rules beside another writer': hasRules && hasOtherWriter,
		'a field was kept': rules.seen.has('kept'),
		'an empty field was filled': rules.seen.has('filled'),
		seconds: settings.timePrecisionMs === 1000,
		'retry on fail': tries > 1,
		'stopped with an error': result.stop !== undefined,
		'a wrong import key': testCase.wrongKey !== undefined,
		merged: outputs.some(({ json }) => typeof json.mergedInto === 'number'),
	};
}

/** What became of the items, and why nobody can know it. */
export const outcomesIn = ({ testCase, evidence, reasons }: Trial): string[] => [
	...evidence.result.items.map(({ kind }) => `${testCase.operation} ${kind}`),
	...reasons.map((reason) => `unknown because ${reason}`),
];
