import type { INodeProperties } from 'n8n-workflow';

import { keyField } from '../../bulk/plan';
import type { PlatformRecord } from '../../api/types';
import { compareFiles, filesOf, uploadFiles } from '../../files/transfer';
import { readRecord } from '../../api/records';
import type { Upload } from '../../files/uploadStream';
import { appendableFields, appendedFields } from '../../fields/values';
import { fileField as findField, guardUpload } from '../../files/uploadValidation';
import { recordId } from '../../descriptions/locators';
import type { Parameter } from '../../execution/operation';
import {
	plannedRecord,
	type PlannedRecordParameter,
	writeOptions,
} from '../../execution/recordInput';
import { outputOf } from '../../execution/recordOutput';
import {
	columns,
	emptyValues,
	maxRetryWait,
	requestOptions,
	simple,
	tableParameters,
	timeout,
	unknownFields,
} from '../../descriptions/common';
import { linkValues } from '../../descriptions/linkOptions';
import { requireNumber, type RunContext } from '../../execution/run';
import { undefinedIf403, uploadsOf } from './input';
import { fileField } from './parameters';
import { itemOperation } from '../../descriptions/operation';
import { MIB } from '../../transport/streams';

/** The platform works on a large file for a while before it responds. */
const TIMEOUT_S = 300;

const target: Parameter<'target'> = {
	displayName: 'Upload To',
	name: 'target',
	type: 'options',
	options: [
		{
			name: 'Existing Record',
			value: 'existing',
			description: 'Add the files to an existing record',
		},
		{ name: 'New Record', value: 'new', description: 'Create a record that has the files' },
	],
	default: 'existing',
};

const existingFiles: Parameter<'existingFiles'> = {
	displayName: 'Existing Files',
	name: 'existingFiles',
	type: 'options',
	options: [
		{ name: 'Keep', value: 'append', description: 'Add the new files to the existing ones' },
		{ name: 'Replace', value: 'replace', description: 'Only the new files remain' },
	],
	default: 'append',
};

const shown = <P extends INodeProperties>(field: P, show: Record<string, unknown[]>): P => ({
	...field,
	displayOptions: { ...field.displayOptions, show: show as Record<string, string[]> },
});

const maxFileSizeMiB: Parameter<'maxFileSizeMiB'> = {
	displayName: 'Max File Size (MiB)',
	name: 'maxFileSizeMiB',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Max size of a file. Larger files are rejected before anything is sent; 0 means no limit.',
};

const skipExisting: Parameter<'skipExisting'> = {
	displayName: 'Skip Existing',
	name: 'skipExisting',
	type: 'boolean',
	default: false,
	description: 'Whether to skip files that the field already has with the same name and size',
};

/** The other fields to write in the same request, and the import key of a new record. */
async function otherFields(
	run: RunContext<PlannedRecordParameter | 'updateOtherFields'>,
	index: number,
	name: string,
	id?: string,
) {
	if (id === undefined) {
		const { fields, key } = await plannedRecord(run, index, 'create', { id, except: name });
		const field = keyField(await run.definition(run.table(index)))?.name;
		return { fields, key: field && key ? { field, value: key } : undefined };
	}
	if (!run.flag('updateOtherFields', 'Update Other Fields', index)) return { fields: {} };
	return { fields: (await plannedRecord(run, index, 'update', { id, except: name })).fields };
}

/** Which files are sent, and what becomes of those that are there. */
function planFiles(
	run: RunContext<'existingFiles'>,
	index: number,
	name: string,
	files: Upload[],
	skipsExisting: boolean,
	before?: PlatformRecord,
) {
	const choices = ['append', 'replace'] as const;
	const replaces =
		run.choice('existingFiles', 'Existing Files', index, choices, 'append') === 'replace';
	const existing = replaces ? ('remove' as const) : ('keep' as const);
	if (!before || !skipsExisting) return { files, existing };
	const { missing, others } = compareFiles(files, filesOf(before, name));
	const remove = replaces ? others.map(({ fileId }) => fileId) : [];
	return { files: missing, existing: remove.length > 0 ? { remove } : ('keep' as const) };
}

export const upload = itemOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload attachments',
	description: 'Upload one or several files to a picture or file field of a record',
	fields: [
		...tableParameters,
		target,
		shown(recordId, { target: ['existing'] }),
		fileField,
		{
			displayName: 'Input Data Field Name',
			name: 'inputDataFieldName',
			type: 'string',
			typeOptions: { binaryDataProperty: true },
			default: 'data',
			description:
				"The name of the input field with the file. Separate several with commas; leave it empty for all of the item's files.",
		},
		shown(existingFiles, { target: ['existing'] }),
		shown(
			{
				displayName: 'Update Other Fields',
				name: 'updateOtherFields',
				type: 'boolean',
				default: false,
				description: 'Whether to update other fields of the record in the same request',
			},
			{ target: ['existing'] },
		),
		shown(columns('getColumnsToUpdate'), { target: ['existing'], updateOtherFields: [true] }),
		shown(columns('getColumnsToCreate'), { target: ['new'] }),
		simple,
	],
	options: [maxFileSizeMiB, skipExisting, emptyValues, linkValues, unknownFields],
	optionGroups: [requestOptions(maxRetryWait, { ...timeout, default: TIMEOUT_S })],
	notIdempotent: true,
	concurrency: 4,
	// Records are created in the order of the items.
	concurrencyKey: (run, index) =>
		run.parameter('target', index) === 'new' ? 'new' : run.recordKey(index),
	timeoutSeconds: TIMEOUT_S,
	execute: async (run, index) => {
		const { client } = run;
		const at = run.table(index);
		const targets = ['existing', 'new'] as const;
		const isNew = run.choice('target', 'Upload To', index, targets, 'existing') === 'new';
		const id = isNew ? undefined : run.text('recordId', 'Record', index);
		const name = run.text('fileField', 'Field', index);
		const shape = outputOf(run, index);
		const table = await undefinedIf403(run.definition(at));
		const field = table && findField(table, name);
		const maximumMib = run.option<unknown>('options.maxFileSizeMiB', index, 0);
		const limit = requireNumber(maximumMib, 'Max File Size (MiB)', { min: 0 }) * MIB;
		const inputFields = run.narrowingText('inputDataFieldName', 'Input Data Field Name', index);
		const all = (await uploadsOf(run, index, inputFields)).map((entry) =>
			guardUpload(field, entry, limit),
		);
		const { fields, key } = await otherFields(run, index, name, id);

		// Read first: a missing record is reported before a large file is sent.
		const reading = id === undefined ? undefined : readRecord(client, at, id);
		const skipsExisting = run.flag('options.skipExisting', 'Skip Existing', index);
		const before = reading && (await (skipsExisting ? reading : undefinedIf403(reading)));
		const { files, existing } = planFiles(run, index, name, all, skipsExisting, before);
		const isNothing = files.length + Object.keys(fields).length === 0 && existing === 'keep';
		if (before && isNothing) return { ...shape(before), uploaded: [] };
		const appendable = appendableFields(table?.fields ?? []);
		const addsTwice = appendedFields(appendable, fields).length > 0;
		const target = { at, field: name, id, before, fields, existing, key, addsTwice };
		const record = await uploadFiles(client, target, files, writeOptions(run, index));
		return { ...shape(record), uploaded: files.map((entry) => entry.name) };
	},
});
