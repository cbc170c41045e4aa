/** Hints for n8n's AI belong to existing parameters, and not to the selectors. */
import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { properties } from '../../../nodes/DataPlatform/actions';
import { loadOptions } from '../../../nodes/DataPlatform/methods/loadOptions';
import { HINTS } from '../../../nodes/DataPlatform/parameters/builderHints';

/** Every parameter, including those inside collections. */
function* parameters(list: INodeProperties[]): Generator<INodeProperties> {
	for (const property of list) {
		yield property;
		const options = property.options ?? [];
		if (property.type === 'collection') yield* parameters(options as INodeProperties[]);
		if (property.type !== 'fixedCollection') continue;
		for (const { values } of options as INodePropertyCollection[]) yield* parameters(values);
	}
}

const all = [...parameters(properties)];

test.each(Object.keys(HINTS))("'%s' has its hint wherever it occurs", (name) => {
	const named = all.filter((property) => property.name === name);
	expect(named.length).toBeGreaterThan(0);
	for (const { builderHint } of named) expect(builderHint?.propertyHint).toBe(HINTS[name]);
});

test("a record's ID has the format of its parameter", () => {
	const ids = all.filter(({ name }) => name === 'recordId');
	expect(new Set(ids.map(({ type }) => type))).toEqual(new Set(['resourceLocator', 'string']));
	for (const { type, builderHint } of ids) {
		const isLocator = builderHint?.propertyHint.includes('__rl') ?? false;
		expect([type, isLocator]).toEqual([type, type === 'resourceLocator']);
	}
});

test('n8n refuses hints on Resource and Operation', () => {
	const selectors = all.filter(({ name }) => name === 'resource' || name === 'operation');
	expect(selectors.filter(({ builderHint }) => builderHint)).toEqual([]);
});

test("the mapping's hint names a list of fields, because n8n's AI can't load columns, and every list that a hint names exists", () => {
	const named = Object.values(HINTS).flatMap((hint) => [...hint.matchAll(/'(\w+)' \(loadOptions\)/g)].map(([, method]) => method!));
	expect(HINTS.columns).toContain("'getWritableFields' (loadOptions)");
	expect(named.filter((method) => !(method in loadOptions))).toEqual([]);
});
