/** The workloads that are measured in real n8n, and the workflows that do them. */
import { DATA_PATH, writeCsv } from '../benchTable.mts';
import { FILE_LOCATION, recordPath, writeRandomFile } from '../fileTable.mts';
import { MIB } from '../measure.mts';
import type { Scale } from '../report/row.mts';
import { dataTable } from './dataTable.mts';
import {
	AUTOMATIC,
	buildBodies,
	bulk,
	code,
	editFields,
	http,
	items,
	locator,
	MAPPED_IN_CODE,
	mappedByHand,
	node,
	type Place,
	platform,
	readPages,
	send,
	sendBodies,
	type Steps,
} from './steps.mts';
import type { Returned } from './storedExecution.mts';

export interface WorkloadContestant {
	/** The nodes whose times count. */
	steps: Steps;
	/** The largest size that it gets. */
	most?: number;
	/** How its work differs, so that its time is shown but not compared. It has no wire. */
	differs?: string;
	/** Counts what it wrote if that is not in the platform's table. */
	count?(place: Place): Promise<number>;
}

export interface Workload {
	title(size: string): string;
	sizes: Record<Scale, number[]>;
	/** Whether most of its time is reading the table, which nobody does faster than another. */
	isReading?: boolean;
	/** Whether our node has nothing kept from an execution before. */
	isCold?: boolean;
	/** Whether ours takes a request more than the others, so that its time has no goal. */
	takesMore?: boolean;
	/** How many records a new table has at the start of each run; none by default. */
	recordsBefore?(size: number): number;
	/** Prepares data that no run changes, instead of new tables. */
	setUp?(place: Place, run: (work: Workload) => Promise<void>): Promise<void>;
	/** The node that provides the items; without it the work begins at once. */
	source?: Steps;
	/** Writes the file that the source reads. */
	writeFile?(path: string, size: number): Promise<void>;
	/** Counts what was done; by default, the table's records. It must be as many as the size. */
	count?(place: Place, returned: Returned): Promise<number> | number;
	ours: Steps;
	peers: Record<string, WorkloadContestant>;
}

const ONE = { full: [1], quick: [1], smoke: [1] };
const FEW = { full: [20], quick: [20], smoke: [20] };
const UPSERT_SIZES = { full: [1_000, 10_000, 100_000], quick: [1_000, 5_000], smoke: [150] };
const MANY = { full: [100_000], quick: [5_000], smoke: [150] };
const SOME = { full: [10_000], quick: [2_000], smoke: [200] };
const MEGABYTES = { full: [300], quick: [20], smoke: [1] };

const ITEM_BY_ITEM: Record<string, WorkloadContestant> = {
	'HTTP Request': {
		steps: (place) => {
			const body = '={{ JSON.stringify({ fields: $json, useUpsert: true }) }}';
			return [send(place, 'POST', DATA_PATH, body)];
		},
	},
};

const one: Workload = {
	title: (size) => `Create or Update, ${size} item`,
	sizes: ONE,
	source: ({ size }) => [items(size)],
	ours: () => [platform('upsert', { columns: AUTOMATIC })],
	peers: ITEM_BY_ITEM,
};

const cold = (work: Workload): Workload => ({
	...work,
	title: (size) => `${work.title(size)}, cold`,
	isCold: true,
	takesMore: true,
});

const oneUnchanged: Workload = {
	...one,
	title: (size) => `Create or Update, ${size} unchanged item`,
	takesMore: true,
	recordsBefore: (size) => size,
};

const few: Workload = {
	...one,
	title: (size) => `Create or Update, ${size} items`,
	sizes: FEW,
};

const getFew: Workload = {
	title: (size) => `Get Many, ${size} records`,
	sizes: FEW,
	isReading: true,
	recordsBefore: (size) => size,
	count: (_, returned) => returned.items,
	ours: () => [platform('getAll')],
	peers: {
		'HTTP Request, Split Out': {
			steps: (place) => [
				http(place, 'Page', { url: `${DATA_PATH}?limit=50` }),
				node('Split Out', 'splitOut', 1, { fieldToSplitOut: 'data', options: {} }),
			],
		},
	},
};

const upsert: Workload = {
	title: (size) => `upsert ${size}`,
	sizes: UPSERT_SIZES,
	source: ({ size }) => [items(size)],
	ours: () => [platform('upsert', { columns: AUTOMATIC })],
	peers: {
		'bodies of 1,000': { steps: bulk() },
		'bodies of 100': { steps: bulk({ batchSize: 100 }) },
		'item by item': { most: 1_000, ...ITEM_BY_ITEM['HTTP Request']! },
		"n8n's Data Table node": { most: 1_000, ...dataTable('upsert') },
	},
};

const mapped: Workload = {
	...upsert,
	title: (size) => `upsert ${size}, mapped by hand`,
	sizes: { ...UPSERT_SIZES, full: [1_000, 10_000] },
	ours: async (place) => [platform('upsert', { columns: await mappedByHand(place) })],
	peers: {
		'bodies of 1,000, mapped in the Code node': { steps: bulk({ fields: MAPPED_IN_CODE }) },
		'Edit Fields, then bodies of 1,000': {
			most: 1_000,
			steps: async (place) => [editFields, ...(await bulk()(place))],
		},
	},
};

const create: Workload = {
	...upsert,
	title: (size) => `Create ${size}`,
	sizes: SOME,
	ours: () => [platform('create', { columns: AUTOMATIC })],
	peers: {
		'bodies of 1,000': { steps: bulk({ useUpsert: false }) },
		"n8n's Data Table node": dataTable('insert'),
	},
};

/** One in this many records has changed since the last night. */
const CHANGED_EVERY = 100;

/** Compares the items with the records that were read, and builds a body of those that differ. */
const buildChanges = code(
	'Changes',
	`const stored = new Map();
for (const { json } of $input.all()) for (const { fields } of json.data) stored.set(fields.email, fields);
const changed = $('Items').all().filter(({ json }) => {
	const before = stored.get(json.email);
	return !before || Object.keys(json).some((name) => before[name] !== json[name]);
});
const bulk = changed.map(({ json }) => ({ fields: json }));
return [{ json: { body: JSON.stringify({ bulk, useUpsert: true }) } }];`,
);

const nightly: Workload = {
	title: (size) => `nightly sync of ${size}, 1 % changed`,
	sizes: SOME,
	isReading: true,
	recordsBefore: (size) => size,
	// A run counts only if every record that should have changed has.
	count: async ({ env, size }) => {
		const changed = await env.countRecords('city(eq)Changed');
		return changed === size / CHANGED_EVERY ? await env.countRecords() : 0;
	},
	source: ({ size }) => [items(size, CHANGED_EVERY)],
	ours: ({ size }) => {
		const maxRecordsToRemove = size / CHANGED_EVERY;
		const missing = { missingRecords: 'delete', maxRecordsToRemove };
		return [platform('sync', { columns: AUTOMATIC, ...missing })];
	},
	peers: {
		'pages, compared in a Code node': {
			steps: (place) => [readPages(place), buildChanges, sendBodies(place)],
		},
		'bodies of 1,000, everything written again': {
			steps: (place) => [buildBodies(), sendBodies(place)],
		},
	},
};

/** A file of rows has only text. */
const TYPED =
	"{ ...json, age: Number(json.age), score: Number(json.score), active: json.active === 'true' }";

const readFile: Steps = ({ file }) => [
	node('Read File', 'readWriteFile', 1, { fileSelector: file, options: {} }),
];

const importFile: Workload = {
	title: (size) => `import ${size} rows of a CSV file`,
	sizes: MANY,
	writeFile: writeCsv,
	source: readFile,
	ours: () => [platform('importFromFile')],
	peers: {
		'Extract From File, Loop Over Items, HTTP Request': {
			steps: (place) => [
				node('Extract From File', 'extractFromFile', 1, { operation: 'csv', options: {} }),
				node('Loop Over Items', 'splitInBatches', 3, { batchSize: 1000, options: {} }),
				buildBodies({ fields: TYPED }),
				sendBodies(place),
			],
		},
	},
};

const getMany: Workload = {
	title: (size) => `Get Many ${size}`,
	sizes: { ...MANY, full: [10_000, 100_000] },
	isReading: true,
	setUp: async ({ env, size }) => await env.resetTable(size),
	count: (_, returned) => returned.items,
	ours: () => [platform('getAll', { returnAll: true })],
	peers: {
		'HTTP Request with pagination, Split Out': {
			steps: (place) => [
				readPages(place),
				node('Split Out', 'splitOut', 1, { fieldToSplitOut: 'data', options: {} }),
			],
		},
	},
};

const { app, table, field } = FILE_LOCATION;

const attachment = ({ record }: Place, operation: string, parameters = {}) =>
	platform(operation, {
		resource: 'attachment',
		table: locator(table),
		recordId: locator(record),
		fileField: field,
		...parameters,
	});

const FILE_BODY = `={{ JSON.stringify({ fields: { ${field}: [{
	filename: 'file.bin',
	mimetype: 'application/octet-stream',
	filedata: 'data:application/octet-stream;base64,' + $json.data,
}] } }) }}`;

const upload: Workload = {
	title: (size) => `upload ${size} MB`,
	sizes: MEGABYTES,
	count: async ({ env }) => {
		const [record] = await env.admin.records(app, table);
		return (record!.fields[field] as Array<{ fileSize: number }>)[0]!.fileSize / MIB;
	},
	writeFile: writeRandomFile,
	source: readFile,
	ours: (place) => [
		attachment(place, 'upload', { existingFiles: 'replace', inputDataFieldName: 'data' }),
	],
	peers: {
		'Extract From File to Base64, HTTP Request': {
			steps: (place) => [
				node('Base64', 'extractFromFile', 1.1, { operation: 'binaryToPropery', options: {} }),
				send(place, 'PATCH', recordPath(place.record), FILE_BODY),
			],
		},
	},
};

const download: Workload = {
	title: (size) => `download ${size} MB`,
	sizes: MEGABYTES,
	isReading: true,
	setUp: async (_, run) => await run(upload),
	count: (_, { bytes }) => bytes / MIB,
	ours: (place) => [attachment(place, 'download')],
	peers: {
		'HTTP Request twice': {
			steps: (place) => [
				http(place, 'Record', { url: recordPath(place.record) }),
				http(place, 'File', {
					url: `={{ $json.data.fields.${field}[0].fileUrl }}`,
					options: { response: { response: { responseFormat: 'file' } } },
				}),
			],
		},
	},
};

export const workloads: Workload[] = [
	one,
	cold(one),
	oneUnchanged,
	getFew,
	few,
	cold(few),
	upsert,
	cold({
		...upsert,
		sizes: { ...UPSERT_SIZES, full: [1_000] },
		peers: { 'bodies of 1,000': { steps: bulk() } },
	}),
	mapped,
	create,
	nightly,
	importFile,
	getMany,
	upload,
	download,
];
