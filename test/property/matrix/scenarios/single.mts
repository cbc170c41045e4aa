/** Operations that write one record for each item. */
import { isDeepStrictEqual } from 'node:util';
import { automatic } from '../../../support/engine/outsideJest.mts';
import { idOf, type Truth } from '../matrixSandbox.mts';
import {
	tableParameters,
	itemsOf,
	type Effect,
	type Output,
	type Prepared,
	type Scenario,
} from './scenario.mts';

const COUNT = 4;

const code = (index: number) => `c${index}`;

/** The values that an item should leave. */
export const newFields = (index: number) => ({
	code: code(index),
	name: `new ${index}`,
	size: index + 1,
});

export const oldRecord = (index: number) => ({
	id: idOf(index),
	fields: { code: code(index), name: `old ${index}`, size: 0, group: 'a' },
});

export const recordsWith = (index: number, { records }: Truth) =>
	records.filter(({ fields }) => fields.code === code(index));

/** The effect of an item that writes the record with its code. */
export function effectOn(index: number, truth: Truth, kept: object = {}): Effect {
	const found = recordsWith(index, truth);
	if (found.length > 1) return { wrong: `there are ${found.length} records of item ${index}` };
	const was = truth.before.find(({ fields }) => fields.code === code(index));
	const is = found[0];
	if (!is) return was ? { wrong: `the record of item ${index} is gone` } : 'none';
	if (isDeepStrictEqual(is.fields, { ...kept, ...newFields(index) })) return 'done';
	if (was && isDeepStrictEqual(is.fields, was.fields)) return 'none';
	return { wrong: `the record of item ${index} holds ${JSON.stringify(is.fields)}` };
}

const instant = (time: unknown) => new Date(String(time)).toISOString();

/** Compares a record in the output with the stored one. */
export function checkRecord(index: number, json: Output['json'], truth: Truth): string[] {
	const is = recordsWith(index, truth)[0];
	if (!is) return ['there is no such record'];
	const { id, ver, created, modified, ...fields } = json;
	const returned = { id, ver, created: instant(created), modified: instant(modified) };
	const stored = { id: is.id, ver: is.ver, created: is.created, modified: is.modified };
	const wrong = isDeepStrictEqual(returned, stored)
		? []
		: [`returned ${JSON.stringify(returned)}, stored ${JSON.stringify(stored)}`];
	if (truth.fieldsReplaced) return wrong;
	for (const [name, value] of Object.entries(fields)) {
		const isEmpty = Array.isArray(value) && value.length === 0;
		const held = is.fields[name] ?? (isEmpty ? [] : null);
		if (!isDeepStrictEqual(value, held))
			wrong.push(`'${name}' returned as ${JSON.stringify(value)}`);
	}
	return wrong;
}

const only = (outputs: Output[]) =>
	outputs.length === 1 ? [] : [`${outputs.length} output items for one item`];

const written = (index: number, outputs: Output[], truth: Truth) => [
	...only(outputs),
	...checkRecord(index, outputs[0]!.json, truth),
];

/** Existing records were updated, others inserted; nothing is claimed that can't be known. */
function upserted(index: number, outputs: Output[], truth: Truth): string[] {
	const was = truth.before.some(({ fields }) => fields.code === code(index));
	const { outcome, ...record } = outputs[0]!.json;
	const isKind =
		truth.isKindHidden && ['inserted', 'updated', 'unchanged'].includes(String(outcome));
	const isTrue = outcome === undefined || isKind || outcome === (was ? 'updated' : 'inserted');
	return [
		...only(outputs),
		...checkRecord(index, record, truth),
		...(isTrue ? [] : [`reported as ${JSON.stringify(outcome)}`]),
	];
}

const wishes = () => itemsOf(Array.from({ length: COUNT }, (_, index) => newFields(index)));
const bodies = () => Array.from({ length: COUNT }, (_, index) => ({ body: `"new ${index}"` }));
const paths = () => Array.from({ length: COUNT }, (_, index) => ({ path: idOf(index) }));

export const create: Scenario = {
	operation: 'record: create',
	kind: 'once',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([oldRecord(90)], random.happens(0.7));
		return {
			parameters: {
				resource: 'record',
				operation: 'create',
				...tableParameters(random),
				columns: automatic,
			},
			items: wishes(),
			main: { method: 'POST', path: '/data$' },
			traces: bodies(),
			touched: { idOf: () => undefined, values: newFields },
			effect: (index, truth) => effectOn(index, truth),
			checkOutput: written,
		};
	},
};

export const upsert: Scenario = {
	operation: 'record: upsert',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([oldRecord(0), oldRecord(2), oldRecord(90)]);
		return {
			parameters: {
				resource: 'record',
				operation: 'upsert',
				...tableParameters(random),
				columns: automatic,
			},
			items: wishes(),
			main: { method: 'POST', path: '/data$' },
			traces: bodies(),
			touched: { idOf: (index) => (index % 2 ? undefined : idOf(index)), values: newFields },
			effect: (index, truth) => effectOn(index, truth, index % 2 ? {} : { group: 'a' }),
			checkOutput: upserted,
		};
	},
};

/** Each item has a file with one row, so that the outcome of the row is that of the item. */
export const importFromFile: Scenario = {
	operation: 'record: importFromFile',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([oldRecord(0), oldRecord(2), oldRecord(90)]);
		const isCsv = random.happens(0.5);
		const file = (index: number) => {
			const { name, size } = newFields(index);
			return isCsv
				? `code,name,size\r\n${code(index)},"${name}",${size}\r\n`
				: `${JSON.stringify(newFields(index))}\n`;
		};
		return {
			parameters: {
				resource: 'record',
				operation: 'importFromFile',
				...tableParameters(random),
				inputDataFieldName: 'data',
				format: 'auto',
				importMode: 'upsert',
				matchOn: 'importKey',
				mappingMode: 'autoMapInputData',
				rejectedRowsField: 'rejected',
				options: {
					skipUnchanged: random.happens(0.3),
					file: { settings: { stopAfterRejected: 1 } },
				},
			},
			items: Array.from({ length: COUNT }, (_, index) => ({
				json: {},
				binary: {
					data: {
						fileName: `rows ${index}`,
						mimeType: 'text/plain',
						data: Buffer.from(file(index)).toString('base64'),
					},
				},
			})),
			main: { method: 'POST', path: '/data/bulk$' },
			// As in a bulk request, with and without Skip Unchanged.
			traces: bodies(),
			touched: {
				idOf: (index) => (index % 2 ? undefined : idOf(index)),
				values: newFields,
				// The report of a file names no record: some version of one had the row's values.
				check: (index, item, { history, written: own }) => {
					const isHeld = (states: typeof history) =>
						states.some(({ fields }) =>
							Object.entries(newFields(index)).every(
								([name, value]) => (fields as Record<string, unknown> | null)?.[name] === value,
							),
						);
					if (item.kind === 'failed') return isHeld(own) ? ['the node wrote it'] : [];
					if (item.kind !== 'done') return [`it is ${item.kind}`];
					return isHeld(history) ? [] : ['no record ever held its values'];
				},
			},
			effect: (index, truth) => effectOn(index, truth, index % 2 ? {} : { group: 'a' }),
			// In a CSV file it is the second row, because the first is the header.
			saysDone: (_index, message) =>
				message.includes(`is imported through row ${isCsv ? 2 : 1} only`),
			checkOutput: (index, outputs) => {
				const { rows, rejected, inserted, updated, unchanged } = outputs[0]!.json;
				const written = Number(inserted) + Number(updated) + Number(unchanged);
				return outputs.length === 1 && rows === 1 && rejected === 0 && written === 1
					? []
					: [`returned ${JSON.stringify(outputs)} for item ${index}`];
			},
		};
	},
};

/** Found by another field than an import key: then a create is not an upsert. */
export const matchedUpsert: Scenario = {
	operation: 'record: upsert',
	variant: 'matched',
	kind: 'once',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([oldRecord(0), oldRecord(2), oldRecord(90)], random.happens(0.5));
		return {
			parameters: {
				resource: 'record',
				operation: 'upsert',
				...tableParameters(random),
				matchOn: 'fields',
				matchFields: ['code'],
				columns: automatic,
			},
			items: wishes(),
			main: { path: '/data$|/data/[\\da-f-]{36}$' },
			traces: bodies(),
			touched: { idOf: (index) => (index % 2 ? undefined : idOf(index)), values: newFields },
			effect: (index, truth) => effectOn(index, truth, index % 2 ? {} : { group: 'a' }),
			checkOutput: upserted,
		};
	},
};

export const update: Scenario = {
	operation: 'record: update',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([0, 1, 2, 3, 90].map(oldRecord));
		const isFull = random.happens(0.5);
		return {
			parameters: {
				resource: 'record',
				operation: 'update',
				...tableParameters(random),
				recordId: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
				updateMode: isFull ? 'replace' : 'partial',
				columns: automatic,
			},
			items: itemsOf(
				Array.from({ length: COUNT }, (_, index) => ({ id: idOf(index), ...newFields(index) })),
			),
			main: { method: isFull ? 'PUT' : 'PATCH', path: '/data/' },
			traces: paths(),
			touched: { idOf, values: newFields },
			effect: (index, truth) => effectOn(index, truth, isFull ? {} : { group: 'a' }),
			checkOutput: written,
		};
	},
};

export const remove: Scenario = {
	operation: 'record: delete',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([0, 1, 2, 3, 90].map(oldRecord));
		return {
			parameters: {
				resource: 'record',
				operation: 'delete',
				...tableParameters(random),
				recordId: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
			},
			items: itemsOf(Array.from({ length: COUNT }, (_, index) => ({ id: idOf(index) }))),
			main: { method: 'DELETE', path: '/data/' },
			traces: paths(),
			touched: { idOf },
			effect: (index, truth) => (recordsWith(index, truth).length === 0 ? 'done' : 'none'),
			checkOutput: (index, outputs) =>
				isDeepStrictEqual(
					outputs.map(({ json }) => json),
					[{ deleted: true, id: idOf(index) }],
				)
					? []
					: [`returned ${JSON.stringify(outputs)}`],
		};
	},
};
