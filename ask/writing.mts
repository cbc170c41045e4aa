/** What only a write can tell, in records that are made for it and deleted again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isReading, type Answers } from './answers.mts';
import { askFiles } from './reading.mts';
import { tablePath, type AskClient, type Answered, type FieldDefinition } from './client.mts';

/** How long calculated fields may take after a write. */
const LATE_MS = 3000;

/** The smallest picture. */
const PIXEL =
	'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

interface Metadata {
	id: string;
	created: string;
	modified: string;
	ver: number | string;
}

type Fields = Record<string, unknown>;

const TEXTS = ['text', 'long_text', 'markdown'];

/** A value for a required field; undefined if none can be made up. */
function exampleOf({ type, metadata }: FieldDefinition, text: string): unknown {
	if (TEXTS.includes(type)) return text;
	if (['number', 'decimal', 'money', 'percentage'].includes(type)) return metadata.min ?? 1;
	if (type === 'checkbox') return true;
	if (type === 'date' || type === 'datetime') return '2026-11-22T00:00:00Z';
	const [choice] = (metadata.items ?? []) as Array<{ value: string }>;
	return type === 'dropdownmulti' ? choice && [choice.value] : choice?.value;
}

class Writer {
	readonly made = new Set<string>();
	readonly #client: AskClient;
	readonly path: string;
	readonly #fields: FieldDefinition[];
	readonly key: string;
	#number = 0;

	constructor(client: AskClient, path: string, fields: FieldDefinition[]) {
		this.#client = client;
		this.path = path;
		this.#fields = fields;
		const key =
			fields.find(({ type, metadata }) => TEXTS.includes(type) && metadata.importKey) ??
			fields.find(({ type }) => TEXTS.includes(type));
		if (!key) throw new Error('The table has no text field: choose another one.');
		this.key = key.name;
	}

	/** A field of one of these types. */
	field(...types: string[]): string | undefined {
		return this.#fields.find(({ type }) => types.includes(type))?.name;
	}

	/** Fields of a new record, with another text in the key field than any other record. */
	fields(more: Fields = {}): Fields {
		const text = `ask ${Date.now().toString(36)} ${(this.#number += 1)}`;
		const required = this.#fields.filter(
			({ name, metadata }) => metadata.required && !(name in more),
		);
		const fields: Fields = { [this.key]: text };
		for (const field of required) {
			const value = exampleOf(field, text);
			if (value === undefined)
				throw new Error(
					`The table requires a field of the type ${field.type}: choose another one.`,
				);
			fields[field.name] = value;
		}
		return { ...fields, ...more };
	}

	async create(fields: Fields): Promise<Answered & { record?: Metadata }> {
		const response = await this.#client.ask('POST', `${this.path}/data`, { fields });
		const record = response.status < 300 ? (response.data as Metadata) : undefined;
		if (record?.id) this.made.add(record.id);
		return { ...response, record };
	}

	async createMany(list: Fields[]): Promise<Answered & { records: Metadata[] }> {
		const body = { bulk: list.map((fields) => ({ fields })) };
		const response = await this.#client.ask(
			'POST',
			`${this.path}/data/bulk?dataResponseType=MetadataOnly`,
			body,
		);
		const records =
			response.status < 300 && Array.isArray(response.data) ? (response.data as Metadata[]) : [];
		for (const { id } of records) this.made.add(id);
		return { ...response, records };
	}

	async read(id: string): Promise<Metadata & { fields: Fields }> {
		return (await this.#client.ask('GET', `${this.path}/data/${id}`)).data as Metadata & {
			fields: Fields;
		};
	}

	/** Deletes what was made. Returns the IDs of what is left. */
	async clean(): Promise<string[]> {
		const left: string[] = [];
		for (const id of this.made) {
			const { status } = await this.#client.ask('DELETE', `${this.path}/data/${id}`);
			if (status !== 204 && status !== 404) left.push(id);
		}
		return left;
	}
}

const positionOf = (errors: Answered['errors']) =>
	errors.some((error) => 'RecordIndex' in error)
		? 'RecordIndex'
		: errors.some((error) => 'recordIndex' in error)
			? 'recordIndex'
			: 'none';

async function askSingle(writer: Writer, answers: Answers): Promise<void> {
	const fields = writer.fields();
	const { status, record } = await writer.create(fields);
	if (!record)
		throw new Error(
			`A record could not be created (${status}): give the role the right, or choose another table.`,
		);
	answers.set('createStatus', { value: status });
	answers.set('newRecordModified', {
		value: record.created === record.modified ? 'created' : 'later',
	});
	const again = await writer.create(fields);
	answers.set('importKey', { value: again.record ? 'notUnique' : 'unique' });
	await sleep(LATE_MS);
	const later = await writer.read(record.id);
	const isLate = String(later.ver) !== String(record.ver) || later.modified !== record.modified;
	answers.set('lateValuesMs', { value: isLate ? LATE_MS / 10 : 0 });
}

async function askBulk(writer: Writer, answers: Answers): Promise<void> {
	const list = Array.from({ length: 5 }, () => writer.fields());
	const { status, records } = await writer.createMany(list);
	answers.set('bulkRight', status === 403 ? { value: 'import' } : { value: 'write' });
	if (status === 403) {
		const unknown = 'the token has no bulk right';
		for (const setting of ['bulkOrder', 'errorPosition'] as const)
			answers.set(setting, { unknown });
		return;
	}
	const stored = await Promise.all(
		records.map(async ({ id }) => (await writer.read(id)).fields[writer.key]),
	);
	const isInOrder = stored.every((text, index) => text === list[index]?.[writer.key]);
	answers.set(
		'bulkOrder',
		records.length < list.length
			? { unknown: 'not all records were created' }
			: { value: isInOrder ? 'request' : 'other' },
	);
	const wrong = await writer.createMany([
		writer.fields(),
		writer.fields({ [writer.key]: { not: 'a text' } }),
	]);
	answers.set(
		'errorPosition',
		wrong.errors.length > 0
			? { value: positionOf(wrong.errors) }
			: { unknown: 'an object is accepted as a text' },
	);
}

async function askValues(writer: Writer, answers: Answers): Promise<void> {
	const time = writer.field('datetime');
	if (time) {
		const { record } = await writer.create(writer.fields({ [time]: '2026-11-22T10:00Z' }));
		answers.set('dateForms', { value: record ? 'iso' : 'four' });
	} else answers.set('dateForms', { unknown: 'the table has no field with a date and time' });
	const date = writer.field('date');
	if (date) {
		const { record } = await writer.create(writer.fields({ [date]: '2026-11-22T00:00:00Z' }));
		const value = record && (await writer.read(record.id)).fields[date];
		if (typeof value === 'string')
			answers.set('dates', { value: value.includes('T') ? 'older' : 'current' });
	}
	const picture = writer.field('picture');
	if (picture) {
		const files = ['one.png', 'two.png'].map((filename) => ({
			filename,
			mimetype: 'image/png',
			filedata: PIXEL,
		}));
		const { record } = await writer.create(writer.fields({ [picture]: files }));
		answers.set('attachmentRules', { value: record ? 'none' : 'documented' });
		const [file] = files;
		const stored = record ?? (await writer.create(writer.fields({ [picture]: [file] }))).record;
		const isKnown = isReading(answers.get('fileSize') ?? { unknown: '' });
		if (stored && !isKnown) askFiles(answers, [(await writer.read(stored.id)).fields[picture]]);
	} else answers.set('attachmentRules', { unknown: 'the table has no picture field' });
}

/**
 * @returns the IDs of records that could not be deleted
 * @throws {Error} if the table can't be read or written; what was made is deleted then, too
 */
export async function askByWriting(
	client: AskClient,
	app: string,
	table: string,
	answers: Answers,
): Promise<string[]> {
	const definition = await client.definition(app, table);
	if (!definition) throw new Error("The table of --table can't be read.");
	const writer = new Writer(client, tablePath(app, table), definition.items);
	try {
		await askSingle(writer, answers);
		await askBulk(writer, answers);
		await askValues(writer, answers);
	} catch (error) {
		const left = await writer.clean();
		if (left.length > 0) (error as Error).message += ` Delete these records: ${left.join(', ')}`;
		throw error;
	}
	return await writer.clean();
}
