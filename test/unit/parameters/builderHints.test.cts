/** Hints for n8n's AI, which stand beside their parameters. */
import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { properties } from '../../../nodes/DataPlatform/actions';
import { loadOptions } from '../../../nodes/DataPlatform/methods/loadOptions';

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
	const hintsOf = (list: INodeProperties[]) => list.map(({ builderHint }) => builderHint?.propertyHint ?? '');
	const mappers = all.filter(({ name }) => name === 'columns');
	expect([...new Set(hintsOf(mappers))]).toEqual([expect.stringContaining("'getWritableFields' (loadOptions)")]);
	const named = hintsOf(all).flatMap((hint) => [...hint.matchAll(/'(\w+)' \(loadOptions\)/g)].map(([, method]) => method!));
	expect(named.filter((method) => !(method in loadOptions))).toEqual([]);
});
