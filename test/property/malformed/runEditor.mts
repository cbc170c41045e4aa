/** The editor's lists, options and columns: right, or an error in words; never silently less. */
import { isDeepStrictEqual } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { Verdict } from '../matrix/runCase.mts';
import { onOwnClock } from '../matrix/virtualClock.mts';
import {
	loadColumns,
	loadOptions,
	NODE_TYPE,
	nodeTypes,
	searchList,
	type RunningSandbox,
} from '../matrix/engine.mts';
import { APP, TABLE, idOf } from '../matrix/sandboxSlot.mts';
import { at } from '../matrix/scenarios/scenario.mts';
import { wording } from '../matrix/parseResult.mts';
import type { Behind } from './malformedSandbox.mts';

const KINDS = { listSearch: searchList, loadOptions, resourceMapping: loadColumns } as const;

/** Every method that fills something of the editor, as `kind: method`. */
export function editorMethods(): string[] {
	const methods = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).methods ?? {};
	return Object.entries(methods).flatMap(([kind, named]) =>
		Object.keys(named ?? {}).map((method) => `${kind}: ${method}`),
	);
}

const parameters = (): INodeParameters => ({
	resource: 'record',
	operation: 'getAll',
	...at(),
	columns: { mappingMode: 'defineBelow', value: null },
});

async function fill(credential: Behind['credential'], name: string): Promise<unknown> {
	const [kind = '', method = ''] = name.split(': ');
	const load = KINDS[kind as keyof typeof KINDS];
	if (!load)
		throw new Error(
			`Nothing here fills '${kind}' of the editor: test/property/malformed/runEditor.mts`,
		);
	return await load(credential, method, parameters());
}

/** @param sandbox what the gateway leads to */
export async function runEditor(
	place: Behind,
	sandbox: RunningSandbox,
	name: string,
): Promise<Verdict> {
	const records = [0, 1, 2].map((number) => ({
		id: idOf(number),
		fields: { code: `c${number}`, name: `name ${number}` },
	}));
	await place.table(records);
	const expected = await fill({ ...place.credential, baseUrl: sandbox.baseUrl }, name);
	await place.begin([]);
	const problems: string[] = [];
	const outcome = await onOwnClock(30, async () => await fill(place.credential, name)).then(
		(value) => ({ value, error: undefined }),
		(error: Error) => ({ value: undefined, error }),
	);
	const truth = await place.truth();
	if (outcome.error) problems.push(...wording(outcome.error.message));
	else if (!isDeepStrictEqual(outcome.value, expected) && !truth.isBlurred) {
		problems.push(`told ${JSON.stringify(outcome.value).slice(0, 600)}`);
	}
	const isTold = outcome.error === undefined;
	return {
		isMet: truth.requests.some(({ faults }) => faults.length > 0),
		done: isTold ? 1 : 0,
		failed: isTold ? 0 : 1,
		unknown: 0,
		untold: 0,
		repeats: 0,
		problems,
		evidence: [`${APP}/${TABLE} ${name}`, outcome.error?.message ?? ''],
	};
}
