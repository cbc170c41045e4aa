/** The table that most benchmarks write to and read from, and items for it. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { IDataObject } from 'n8n-workflow';

export const APP = 'bench';
export const TABLE = 'people';

/** The import key of the table. */
export const KEY_FIELD = 'email';

/** The definition of the table, for the sandbox's administration. */
export const benchTable = {
	internalName: TABLE,
	header: 'People',
	fields: [
		{ name: KEY_FIELD, type: 'text', metadata: { importKey: true } },
		{ name: 'firstname', type: 'text' },
		{ name: 'surname', type: 'text', metadata: { required: true, maxLength: 80 } },
		{ name: 'city', type: 'text' },
		{ name: 'age', type: 'number', metadata: { min: 0, max: 150 } },
		{ name: 'score', type: 'decimal' },
		{ name: 'active', type: 'checkbox' },
		{ name: 'joined', type: 'date' },
		{
			name: 'state',
			type: 'dropdown',
			metadata: { items: ['new', 'known', 'gone'].map((value, order) => ({ value, order })) },
		},
		{ name: 'note', type: 'long_text' },
	],
};

/**
 * The same item in every run, with its own key: about 250 bytes of JSON. The source also runs in
 * n8n's Code node, so it uses nothing from outside.
 */
export function createItem(index: number): IDataObject {
	const pick = (values: string[]) => values[index % values.length];
	return {
		email: `person-${index}@example.com`,
		firstname: pick(['Ada', 'Ben', 'Cem', 'Dana', 'Emil', 'Fatima', 'Gus']),
		surname: `Surname ${index}`,
		city: pick(['Bergen', 'Gent', 'Izmir', 'Kassel', 'Lyon']),
		age: index % 100,
		score: index / 4,
		active: index % 2 === 0,
		joined: `20${10 + (index % 15)}-0${1 + (index % 9)}-1${index % 10}`,
		state: pick(['new', 'known', 'gone']),
		note: `This is the note on person number ${index}, for length.`,
	};
}

export const createItems = (size: number): IDataObject[] =>
	Array.from({ length: size }, (_, index) => createItem(index));

/** The columns of a CSV file of items. */
export const COLUMNS = Object.keys(createItem(0));

/** An item's line; the note has a comma, so it is quoted. */
const csvLineOf = (index: number): string =>
	`${Object.values(createItem(index))
		.map((value) => (String(value).includes(',') ? `"${String(value)}"` : String(value)))
		.join(',')}\n`;

/** Writes a CSV file of items. */
export async function writeCsv(path: string, size: number): Promise<void> {
	function* lines() {
		yield `${COLUMNS.join(',')}\n`;
		for (let index = 0; index < size; index += 1) yield csvLineOf(index);
	}
	await pipeline(Readable.from(lines()), createWriteStream(path));
}

/** The path of the table's records. */
export const DATA_PATH = `/api/v2/apps/${APP}/tables/${TABLE}/data`;

/** The path of a bulk request, with the same query as the nodes send. */
export const BULK_PATH = `${DATA_PATH}/bulk?dataResponseType=MetadataOnly`;

/** The body of a bulk upsert. */
export const bulkBody = (items: IDataObject[]): string =>
	JSON.stringify({ bulk: items.map((fields) => ({ fields })), useUpsert: true });

export function splitIntoBatches<Item>(items: Item[], size: number): Item[][] {
	const batches: Item[][] = [];
	for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
	return batches;
}
