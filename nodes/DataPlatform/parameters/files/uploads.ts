/**
 * Files in fields of records, and files of items.
 */
import type { NameOf } from '../../parameterKinds/parameter';
import { flag, number, text } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { tableChoice } from '../select/table';
import { LABELS } from '../../labels';

export const fileField = tableChoice('fileField', {
	label: 'File Field Name or ID',
	list: 'getFileField',
	required: true,
	about: 'The picture or file field',
});

export const fileId = text('fileId', {
	label: 'File ID',
	placeholder: 'e.g. 9b2f64c0-0f0e-4f6e-8a53-2f1f6b7f6a10',
	description: 'The ID of one file in the field. Leave empty for all files.',
	// If its expression returned nothing, all files would be meant.
	narrows: true,
});

/** The output field for a file that an operation creates. */
export const outputField = text('outputField', {
	label: 'Put Output File in Field',
	required: true,
	preset: 'data',
	description: 'The name of the output field for the file',
});

export const maxFileSizeMiB = number('maxFileSizeMiB', {
	label: LABELS.maxFileSizeMiB,
	min: 0,
	preset: 0,
	description:
		'Max size of a file. Larger files are rejected before anything is sent; 0 means no limit.',
});

export const skipExisting = flag('skipExisting', {
	label: LABELS.skipExisting,
	preset: false,
	description: 'Whether to skip files that the field already has with the same name and size',
});

export const inputDataFieldName = text('inputDataFieldName', {
	label: 'Input Data Field Name',
	preset: 'data',
	typeOptions: { binaryDataProperty: true },
	// If its expression returned nothing, all files of the item would be used.
	narrows: true,
	description:
		"The name of the input field with the file. Separate several with commas; leave it empty for all of the item's files.",
});

/** What to do for an item without files. */
const PASS_FILES_ON =
	"Put a node before this one that reads or downloads a file. The nodes between them must pass it on: in 'Edit Fields', turn on 'Include Other Input Fields', and add the option 'Strip Binary Data', turned off. After any other node, add a 'Merge' node with the Mode 'Combine' and Combine By 'Position', and connect the node that had the file to its second input.";

/**
 * The given binary fields of the item, or all.
 *
 * @throws if the item has no such file
 */
export function binaryFields(
	run: RunContext<NameOf<typeof inputDataFieldName>>,
	index: number,
): string[] {
	const given = inputDataFieldName.of(run, index);
	const named = given
		.split(',')
		.map((name) => name.trim())
		.filter((name) => name !== '');
	const available = Object.keys(run.items[index]?.binary ?? {});
	if (given !== '' && named.length === 0) {
		throw inputDataFieldName.error(
			`${inputDataFieldName} names no field: '${given}'`,
			'Enter the names of fields with files, separated by commas, or leave it empty for all.',
		);
	}
	const chosen = named.length > 0 ? [...new Set(named)] : available;
	const missing = chosen.filter((name) => !available.includes(name) && !hasFile(run, index, name));
	if (chosen.length > 0 && missing.length === 0) return chosen;
	const where = missing.length > 0 ? ` in '${missing.join("', '")}'` : '';
	const hint =
		available.length > 0
			? `Fields with files in this item: ${available.join(', ')}.`
			: PASS_FILES_ON;
	throw inputDataFieldName.error(`The item has no file${where}`, hint);
}

/** n8n may keep files elsewhere than in the item's `binary`. */
function hasFile({ context }: RunContext<never>, index: number, name: string): boolean {
	try {
		return Boolean(context.helpers.assertBinaryData(index, name));
	} catch {
		return false;
	}
}
