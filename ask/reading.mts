/** What reading can tell, from the first tables of each application that the token may read. */
import type { Answers } from './answers.mts';
import { tablePath, type AskClient, type TableDefinition } from './client.mts';

const TABLES = 12;
const RECORDS = 50;

/** A name that no field has. */
const NO_FIELD = 'no_field_has_this_name';

interface Sample {
	app: string;
	table: TableDefinition;
	records: ReadRecord[];
}

type Fields = Record<string, unknown>;

interface ReadRecord {
	created: string;
	modified: string;
	ver: number | string;
	fields: Record<string, unknown>;
}

const UNDOCUMENTED = ['importKey', 'multiple', 'linkTableId', 'readOnly'];
const TODAY = ['buttonform', 'freehtmlinput', 'calculated'];
const OLDER = ['button', 'freehtml', 'calculatedfield'];

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

async function sample(client: AskClient): Promise<Sample[]> {
	const samples: Sample[] = [];
	for (const { id: app } of await client.list<{ id: string }>('/apps')) {
		for (const { id } of await client.list<{ id: string }>(
			`/apps/${encodeURIComponent(app)}/tables`,
		)) {
			if (samples.length >= TABLES) return samples;
			const table = await client.definition(app, id);
			if (!table) continue;
			const records = await client.list<ReadRecord>(`${tablePath(app, id)}/data?limit=${RECORDS}`);
			samples.push({ app, table, records });
		}
	}
	return samples;
}

/** Values of the fields of some types, with the records that lack one. */
function* values(samples: Sample[], ...types: string[]): Generator<unknown> {
	for (const { table, records } of samples) {
		for (const { name } of table.items.filter(
			(field) => types.length === 0 || types.includes(field.type),
		)) {
			for (const { fields } of records)
				yield Object.hasOwn(fields, name) ? fields[name] : undefined;
		}
	}
}

/** The first reading that a value shows. */
function answer(
	answers: Answers,
	setting: Parameters<Answers['set']>[0],
	found: unknown,
	otherwise: string,
): void {
	answers.set(setting, found === undefined ? { unknown: otherwise } : { value: found as string });
}

function first<Found>(
	list: Iterable<unknown>,
	readingOf: (value: unknown) => Found | undefined,
): Found | undefined {
	for (const value of list) {
		const found = readingOf(value);
		if (found !== undefined) return found;
	}
	return undefined;
}

/** The rule for new records needs one that nobody has changed. */
function newRecord({ ver, created, modified }: ReadRecord): string | undefined {
	if (Number(ver) !== 0) return undefined;
	return created === modified ? 'created' : 'later';
}

/** How files are described; by values of fields that hold them. */
export function askFiles(answers: Answers, fields: Iterable<unknown>): void {
	const files = [...fields].flatMap((value) =>
		Array.isArray(value) ? value.filter(isObject) : [],
	);
	const sizes = { number: 'number', string: 'text', undefined: 'absent' };
	const noFile = 'no record has a file';
	answer(
		answers,
		'fileSize',
		first(files, (file) => sizes[typeof (file as Fields).fileSize as keyof typeof sizes]),
		noFile,
	);
	const hasToken = ({ fileUrl }: Fields) => String(fileUrl).includes('token=');
	answer(
		answers,
		'fileAddresses',
		first(files, (file) => (hasToken(file as Fields) ? 'withToken' : 'plain')),
		noFile,
	);
}

export async function askByReading(client: AskClient, answers: Answers): Promise<void> {
	const samples = await sample(client);
	if (samples.length === 0)
		throw new Error('The token may not read any table: give its role the right to read one.');
	const fields = samples.flatMap(({ table }) => table.items);
	const types = fields.map(({ type }) => type);
	const metadata = fields.flatMap((field) => [
		...Object.keys(field),
		...Object.keys(field.metadata),
	]);

	answer(
		answers,
		'definition',
		UNDOCUMENTED.some((name) => metadata.includes(name)) ? 'full' : 'documented',
		'',
	);
	const names = types.some((type) => OLDER.includes(type))
		? 'older'
		: types.some((type) => TODAY.includes(type))
			? 'today'
			: undefined;
	answer(answers, 'typeNames', names, 'no table has a button, free HTML or a calculated field');
	answer(
		answers,
		'dates',
		first(values(samples, 'date'), (value) =>
			typeof value === 'string' ? (value.includes('T') ? 'older' : 'current') : undefined,
		),
		'no record has a date',
	);
	const links = () => values(samples, 'schema_link');
	answer(
		answers,
		'links',
		first(links(), (value) =>
			isObject(value) && 'id' in value ? (isObject(value.fields) ? 'nested' : 'flat') : undefined,
		),
		'no record links to one record',
	);
	answer(
		answers,
		'linkLists',
		first(links(), (value) =>
			isObject(value) && 'count' in value ? ('url' in value ? 'withUrl' : 'withoutUrl') : undefined,
		),
		'no record has a link to several records',
	);
	const isEmpty = [...values(samples)];
	const empty = isEmpty.includes(null)
		? 'null'
		: isEmpty.includes(undefined)
			? 'absent'
			: undefined;
	answer(answers, 'emptyFields', empty, 'no record has an empty field');
	answer(
		answers,
		'newRecordModified',
		first(
			samples.flatMap(({ records }) => records),
			(record) => newRecord(record as ReadRecord),
		),
		'no record is new: each was changed',
	);

	askFiles(answers, values(samples, 'file', 'picture'));

	const { app, table } = samples[0]!;
	const counted = await client.ask(
		'GET',
		`${tablePath(app, table.id)}/data/count?filter=${NO_FIELD}(eq)x`,
	);
	answer(
		answers,
		'filterNames',
		{ 400: 'validated', 200: 'ignored' }[counted.status],
		`a filter with an unknown name answers ${counted.status}`,
	);
	const short = await client.ask(
		'GET',
		`/${encodeURIComponent(table.internalNameApi)}/data?limit=1`,
	);
	answer(
		answers,
		'shortAddress',
		{ 200: 'served', 404: 'notFound' }[short.status],
		`it answers ${short.status}`,
	);
}
