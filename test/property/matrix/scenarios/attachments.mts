/** Operations on files. What a record has is known by name, size and bytes. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { INodeExecutionData } from 'n8n-workflow';
import { automatic } from '../../../support/engine/outsideJest.mts';
import { idOf } from '../../faults/constants.mts';
import type { MatrixSandbox, Truth } from '../matrixSandbox.mts';
import { tableParameters, itemsOf, unlessRight, type Effect, type Output, type Prepared, type Scenario } from './scenario.mts';

const COUNT = 3;
const indexes = Array.from({ length: COUNT }, (_, index) => index);

export const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The smallest picture: its thumbnail can be made. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');

const content = (index: number) => Buffer.from(`content of file ${index}\n`.repeat(200));

interface StoredFile {
	fileId: string;
	fileName: string;
	fileSize: number;
}

const filesIn = (truth: Pick<Truth, 'records'>, index: number, field: string) =>
	(truth.records.find(({ id }) => id === idOf(index))?.fields[field] ?? []) as StoredFile[];

const dataUrl = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;

/** A table with one file in each record, in the given field. */
async function fill(slot: MatrixSandbox, field: 'papers' | 'photo') {
	await slot.createTable(indexes.map((index) => ({ id: idOf(index), fields: { code: `c${index}`, name: `old ${index}` } })));
	for (const index of indexes) {
		const isPicture = field === 'photo';
		const type = isPicture ? 'image/png' : 'text/plain';
		const bytes = isPicture ? PIXEL : content(index + 10);
		const file = { filename: `there ${index}.${isPicture ? 'png' : 'txt'}`, mimetype: type, filedata: dataUrl(bytes, type) };
		const path = `/apps/shop/tables/things/data/${idOf(index)}`;
		await slot.requestAsOtherClient('PATCH', path, { fields: { [field]: [file] } });
	}
}

const RECORD = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
const ids = () => itemsOf(indexes.map((index) => ({ id: idOf(index) })));
const paths = () => indexes.map((index) => ({ path: idOf(index) }));

const newName = (index: number, ending = 'txt') => `new ${index}.${ending}`;

/** The effect on a file that should exist once. */
function uploaded(files: StoredFile[], index: number, name = newName(index)): Effect {
	const found = files.filter(({ fileName }) => fileName === name);
	if (found.length > 1) return { wrong: `file ${index} is there ${found.length} times` };
	if (found.length === 0) return 'none';
	const size = content(index).length;
	// Some platforms return sizes as text, or none.
	return Number(found[0]!.fileSize ?? size) === size ? 'done' : { wrong: `file ${index} is not whole` };
}

const withFile = (index: number, json: object, fileName = newName(index), mimeType = 'text/plain'): INodeExecutionData => ({
	json: json as INodeExecutionData['json'],
	binary: { data: { fileName, mimeType, data: content(index).toString('base64') } },
});

async function toRecords(slot: MatrixSandbox, isReplacing: boolean, isByKey: boolean): Promise<Prepared> {
	// Where a field may have several pictures, of any format.
	const isPicture = slot.readings.settings.attachmentRules === 'none';
	const field = isPicture ? 'photo' : 'papers';
	const hasSizes = slot.readings.settings.fileSize === undefined;
	const [ending, type] = isPicture ? ['gif', 'image/gif'] : ['txt', 'text/plain'];
	await fill(slot, field);
	return {
		parameters: {
			resource: 'attachment',
			operation: 'upload',
			...tableParameters(),
			target: 'existing',
			recordId: isByKey ? { ...RECORD, value: '={{ $json.code }}' } : RECORD,
			fileField: field,
			existingFiles: isReplacing ? 'replace' : 'append',
		},
		items: indexes.map((index) => withFile(index, { id: idOf(index), code: `c${index}` }, newName(index, ending), type)),
		main: { method: 'PATCH', path: '/data/' },
		traces: paths(),
		effect(index, truth) {
			const files = filesIn(truth, index, field);
			const effect = uploaded(files, index, newName(index, ending));
			const isThere = files.some(({ fileName }) => fileName.startsWith(`there ${index}.`));
			if (isThere === (isReplacing && effect === 'done')) {
				return { wrong: `the file that record ${index} had is ${isThere ? 'still there' : 'gone'}` };
			}
			return effect;
		},
		checkOutput(index, outputs, truth) {
			const { id, ver, [field]: files } = outputs[0]!.json;
			const is = truth.records.find((record) => record.id === idOf(index))!;
			// A late previous attempt replaces the files once more, with the same ones.
			const shown = (list: StoredFile[]) =>
				list.map(({ fileId, fileName, fileSize }) => [is.ver === ver && fileId, fileName, hasSizes && fileSize]);
			const isTrue =
				outputs.length === 1 &&
				id === is.id &&
				isDeepStrictEqual(shown((files ?? []) as StoredFile[]), shown(filesIn(truth, index, field)));
			return unlessRight(isTrue, outputs);
		},
	};
}

async function toNewRecords(slot: MatrixSandbox): Promise<Prepared> {
	await fill(slot, 'papers');
	const made = (index: number, { records }: Truth) => records.filter(({ fields }) => fields.code === `n${index}`);
	return {
		parameters: {
			resource: 'attachment',
			operation: 'upload',
			...tableParameters(),
			target: 'new',
			fileField: 'papers',
			columns: automatic,
		},
		items: indexes.map((index) => withFile(index, { code: `n${index}`, name: `made ${index}` })),
		main: { method: 'POST', path: '/data$' },
		traces: indexes.map((index) => ({ body: `"made ${index}"` })),
		effect(index, truth) {
			const found = made(index, truth);
			if (found.length > 1) return { wrong: `record ${index} is there ${found.length} times` };
			if (!found[0]) return 'none';
			const effect = uploaded((found[0].fields.papers ?? []) as StoredFile[], index);
			return effect === 'none' ? { wrong: `record ${index} is there without its file` } : effect;
		},
		checkOutput: (index, outputs, truth) => unlessRight(outputs.length === 1 && outputs[0]!.json.id === made(index, truth)[0]?.id, outputs),
	};
}

const upload: Scenario = {
	operation: 'attachment: upload',
	kind: 'once',
	async prepare(slot, random) {
		const { createStatus, attachmentRules } = slot.readings.settings;
		const isNew = (random.happens(0.3) || createStatus !== undefined) && attachmentRules !== 'none';
		return isNew
			? await toNewRecords(slot)
			: await toRecords(slot, random.happens(0.3), random.happens(0.3) && slot.readings.settings.definition === undefined);
	},
};

const remove: Scenario = {
	operation: 'attachment: remove',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await fill(slot, 'papers');
		return {
			parameters: {
				resource: 'attachment',
				operation: 'remove',
				...tableParameters(random, slot),
				recordId: RECORD,
				fileField: 'papers',
				removeMode: 'all',
			},
			items: ids(),
			main: { method: 'PATCH', path: '/data/' },
			traces: paths(),
			effect: (index, truth) => (filesIn(truth, index, 'papers').length === 0 ? 'done' : 'none'),
			checkOutput: (index, outputs, truth) => {
				const before = filesIn({ records: truth.before }, index, 'papers')[0]!;
				const { id, removed, remaining } = outputs[0]!.json;
				const names = (removed as StoredFile[]).map(({ fileId }) => fileId).join();
				const isTrue = id === idOf(index) && remaining === 0 && names === before.fileId;
				return unlessRight(isTrue && outputs.length === 1, outputs);
			},
		};
	},
};

function checkDownload(index: number, outputs: Output[], bytesHash: string): string[] {
	const [output] = outputs;
	const isTrue = output?.json.id === idOf(index) && output.files.data === bytesHash;
	return unlessRight(isTrue && outputs.length === 1, outputs);
}

const downloading = (thumbnails: boolean): Scenario => ({
	operation: 'attachment: download',
	...(thumbnails && { variant: 'thumbnails' }),
	kind: 'read',
	async prepare(slot, random): Promise<Prepared> {
		const field = thumbnails ? 'photo' : 'papers';
		await fill(slot, field);
		const expected = await Promise.all(
			indexes.map(async (index) => {
				const path = `/apps/shop/tables/things/data/${idOf(index)}`;
				const { fields } = (await slot.readFromPlatform(path)) as { fields: Record<string, Array<StoredFile & { thumbnailUrl: string }>> };
				if (!thumbnails) return hash(content(index + 10));
				const { data } = await slot.sandbox.client().get<ArrayBuffer>(fields[field]![0]!.thumbnailUrl, { responseType: 'arraybuffer' });
				return hash(Buffer.from(data));
			}),
		);
		return {
			parameters: {
				resource: 'attachment',
				operation: 'download',
				...tableParameters(random, slot),
				recordId: RECORD,
				fileField: field,
				outputField: 'data',
				options: { thumbnails },
			},
			items: ids(),
			main: { method: 'GET', path: '/files/' },
			traces: indexes.map(() => ({ path: '' })),
			checkOutput: (index, outputs) => checkDownload(index, outputs, expected[index]!),
		};
	},
});

export const thumbnails = downloading(true);

export const attachmentScenarios = [upload, remove, downloading(false)];
