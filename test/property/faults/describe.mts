/** Describes a failing schedule for a human reader. */
import { describeRequest } from './sandboxSlot.mts';
import type { Trial } from './trial.mts';

const lines = (entries: unknown[]) => entries.map((entry) => `  ${JSON.stringify(entry)}`);

export function describeTrial({ testCase, evidence }: Trial): string[] {
	const { items, records, faults, otherWrite, settings, table, isHasty, rules, ...rest } = testCase;
	const { requests, history, result } = evidence;
	return [
		'Schedule:',
		...lines([{ ...rest, keyType: table.fields[0]!.type }, { settings }]),
		'Faults:',
		...lines(faults),
		...(otherWrite ? ['Another writer:', ...lines([otherWrite])] : []),
		'Records before:',
		...lines(records),
		'Items:',
		...lines(items.map(({ index, data }) => ({ index, ...data.json }))),
		'Requests:',
		...requests.map((request) => `  ${describeRequest(request)}`),
		'History:',
		...lines(history.map(({ id, ver, action, request, fields }) => ({ request, action, id, ver, fields }))),
		'Reported:',
		...lines([...(result.stop ? [result.stop] : []), ...result.items, ...result.others]),
	];
}
