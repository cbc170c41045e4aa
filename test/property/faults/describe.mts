/** Describes a failing schedule for a human reader. */
import type { Trial } from './trial.mts';

const lines = (entries: unknown[]) => entries.map((entry) => `    ${JSON.stringify(entry)}`);

export function describeTrial(trial: Trial): string {
	const { testCase, evidence } = trial;
	const { items, records, faults, otherWrite, settings, table, isHasty, rules, ...rest } = testCase;
	const key = table.fields[0]!;
	return [
		'  Disagreements:',
		...trial.findErrors().map((text) => `    ${text}`),
		'  Schedule:',
		...lines([{ ...rest, keyType: key.type }, { settings }]),
		'  Faults:',
		...faults.map((text) => `    ${text}`),
		...(otherWrite ? ['  Another writer:', ...lines([otherWrite])] : []),
		'  Records before:',
		...lines(records),
		'  Items:',
		...lines(items.map(({ index, data }) => ({ index, ...data.json }))),
		'  Requests:',
		...evidence.requests.map(
			({ number, method, path, query, status, outcome, records: count, faults: met }) =>
				`    ${number} ${method} ${path.replace('/api/v2/apps/shop/tables/things', '…')}${query && `?${query}`} ${status ?? outcome} records ${count} ${met.join(', ')}`,
		),
		'  History:',
		...lines(evidence.history.map(({ id, ver, action, request, fields }) => ({ request, action, id, ver, fields }))),
		'  Reported:',
		...lines([...(evidence.result.stop ? [evidence.result.stop] : []), ...evidence.result.items, ...evidence.result.others]),
	].join('\n');
}
