/**
 * The editor's lists, options and columns: right, or an error in words, but never silently
 * incomplete.
 */
import { isDeepStrictEqual } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { Verdict } from '../../support/results.mts';
import { onVirtualClock } from '../matrix/virtualClock.mts';
import { forgetAll, loadColumns, loadOptions, NODE_TYPE, nodeTypes, searchList } from '../../support/engine/outsideJest.mts';
import type { ConnectedSandbox } from '../../../harness/sandboxProcess.mts';
import { APP, TABLE, idOf } from '../faults/constants.mts';
import { tableParameters } from '../matrix/scenarios/scenario.mts';
import { messageErrors } from '../matrix/parseResult.mts';
import { usualPlatform } from '../matrix/variantCases.mts';
import type { MalformedSandbox } from './malformedSandbox.mts';

const KINDS = { listSearch: searchList, loadOptions, resourceMapping: loadColumns } as const;

/**
 * Every method that fills a part of the editor, as `kind: method`. Credential tests are different:
 * test/integration/credentialTest.test.cts.
 */
export function editorMethods(): string[] {
	const { credentialTest: _, ...methods } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).methods ?? {};
	return Object.entries(methods).flatMap(([kind, named]) => Object.keys(named ?? {}).map((method) => `${kind}: ${method}`));
}

const parameters = (): INodeParameters => ({
	resource: 'record',
	operation: 'getAll',
	...tableParameters(),
	columns: { mappingMode: 'defineBelow', value: null },
});

async function fill(credential: MalformedSandbox['credential'], name: string): Promise<unknown> {
	const [kind = '', method = ''] = name.split(': ');
	const load = KINDS[kind as keyof typeof KINDS];
	if (!load) throw new Error(`Nothing here fills '${kind}' of the editor: test/property/malformed/runEditor.mts`);
	return await load(credential, method, parameters());
}

interface Shown {
	fields?: Array<{ id: string; displayName: string }>;
}

/** What is right: a link whose records can't be listed takes an ID, and says so. */
function withLinksShown(expected: unknown, shown: unknown) {
	const { fields } = expected as Shown;
	if (!fields) return expected;
	const idOf = (name: string) => (shown as Shown).fields?.find(({ displayName }) => displayName === `${name} (linked record)`);
	return { ...(expected as Shown), fields: fields.map((field) => idOf(field.displayName) ?? field) };
}

/** @param slot the sandbox behind the gateway */
export async function runEditor(slot: MalformedSandbox, sandbox: ConnectedSandbox, name: string): Promise<Verdict> {
	const records = [0, 1, 2].map((number) => ({ id: idOf(number), fields: { code: `c${number}`, name: `name ${number}` } }));
	const direct = { ...slot.credential, baseUrl: sandbox.baseUrl };
	// The table is another one than in the run before.
	for (const credential of [slot.credential, direct]) forgetAll(credential);
	slot.readings = usualPlatform;
	await slot.createTable(records);
	const expected = await fill(direct, name);
	await slot.begin([]);
	const problems: string[] = [];
	const outcome = await onVirtualClock(30, async () => await fill(slot.credential, name)).then(
		(value) => ({ value, error: undefined }),
		(error: Error) => ({ value: undefined, error }),
	);
	const truth = await slot.truth();
	if (outcome.error) problems.push(...messageErrors(outcome.error.message));
	else if (!isDeepStrictEqual(outcome.value, withLinksShown(expected, outcome.value)) && !truth.payloadAltered) {
		problems.push(`returned ${JSON.stringify(outcome.value).slice(0, 600)}`);
	}
	return {
		seen: { [outcome.error ? 'lists failed' : 'lists loaded']: 1 },
		problems,
		evidence: [`${APP}/${TABLE} ${name}`, outcome.error?.message ?? ''],
	};
}
