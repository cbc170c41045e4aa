/** One scenario for each operation of the node. An operation without a scenario stops the run. */
import { NODE_TYPE, nodeTypes, prepare } from '../../../support/engine/outsideJest.mts';
import { attachmentScenarios, thumbnails } from './attachments.mts';
import { misspeltCount, misspeltGetMany, readingScenarios } from './reading.mts';
import type { Scenario } from './scenario.mts';
import { trigger, triggerAndWait } from './workflow.mts';
import {
	create,
	deleteMany,
	importFromFile,
	linksByName,
	matchedUpsert,
	misspeltDeleteMany,
	partlyRejected,
	remove,
	ruledUpsert,
	similarLists,
	storedUpsert,
	sync,
	update,
	upsert,
	writeBack,
} from './writing.mts';

const all: Scenario[] = [
	create,
	importFromFile,
	upsert,
	update,
	remove,
	sync,
	deleteMany,
	...readingScenarios,
	...attachmentScenarios,
	trigger,
	triggerAndWait,
];

/** Second scenarios of operations. */
const variants: Scenario[] = [
	linksByName,
	matchedUpsert,
	misspeltCount,
	misspeltDeleteMany,
	misspeltGetMany,
	partlyRejected,
	writeBack,
	ruledUpsert,
	similarLists,
	storedUpsert,
	thumbnails,
];

/** The operations that the built node offers, as `resource: operation`. */
async function operations(): Promise<string[]> {
	await prepare();
	const { properties } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	return properties
		.filter(({ name }) => name === 'operation')
		.flatMap(({ displayOptions, options = [] }) => {
			const resource = String(displayOptions?.show?.resource?.[0]);
			return options.map((option) => `${resource}: ${String('value' in option && option.value)}`);
		});
}

/** @throws {Error} if an operation has no scenario, or a scenario no operation */
export async function scenarios(): Promise<Scenario[]> {
	const offered = await operations();
	const known = new Map(all.map((scenario) => [scenario.operation, scenario]));
	const missing = offered.filter((name) => !known.has(name));
	const stale = [...known.keys()].filter((name) => !offered.includes(name));
	if (missing.length + stale.length > 0) {
		throw new Error(
			`Operations without a scenario in test/property/matrix/scenarios: ${missing.join(', ') || 'none'}; scenarios without an operation: ${stale.join(', ') || 'none'}`,
		);
	}
	return [...offered.map((name) => known.get(name)!), ...variants];
}
