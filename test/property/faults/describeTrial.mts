/** Describes a failing schedule for a human reader. */
import type { Trial } from './trial.mts';

const lines = (entries: unknown[]) => entries.map((entry) => `    ${JSON.stringify(entry)}`);

export function describeTrial(trial: Trial): string {
	const { testCase, evidence } = trial;
	const { mode, isKeyed, onError, tries, options, settings, faults, records, items } = testCase;
	return [
		'  Disagreements:',
		...trial.findErrors().map((text) => `    ${text}`),
		'  Schedule:',
		...lines([
			{ mode, isKeyed, onError, tries, marking: testCase.marking, canRead: testCase.canRead },
			{ options },
			{ settings },
		]),
		...lines(
			testCase.table.fields
				.filter(({ metadata }) => metadata?.required || metadata?.importKey)
				.map(({ name, metadata }) => ({ name, metadata })),
		),
		'  Faults:',
		...lines(faults),
		...(testCase.otherWrite ? ['  Another writer:', ...lines([testCase.otherWrite])] : []),
		'  Records before:',
		...lines(records),
		'  Items:',
		...lines(items.map(({ index, json }) => ({ index, ...json }))),
		'  Requests:',
		...evidence.requests.map(
			({ number, method, path, status, outcome, records: count, faults: met }) =>
				`    ${number} ${method} ${path} ${status ?? outcome} records ${count} ${met.join(', ')}`,
		),
		'  Written:',
		...lines(
			evidence.history.map(({ id, ver, action, request, fields }) => ({
				request,
				action,
				id,
				ver,
				fields,
			})),
		),
		'  Reported:',
		...lines(
			evidence.stop ? [evidence.stop] : evidence.summary ? [evidence.summary] : evidence.results,
		),
	].join('\n');
}
