/**
 * How a table differs from what a workflow expects. Pure.
 */
import type { IDataObject } from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../../api/types';
import { importKeyOf, isWritable } from '../../fields';
import { didYouMean } from '../../transport/closestName';
import { isObject } from '../../transport/json';

/** An expected field. Properties that are not set may have any value. */
interface ExpectedField {
	name: string;
	header?: string;
	type?: string;
	/** It was read-only when the output was made; undefined if only its name is given. */
	readOnly?: boolean;
	/** A link leads to several records, not to one. */
	multiple?: boolean;
	/** The table that a link leads to. */
	linkTableId?: string;
}

export interface ExpectedTable {
	fields: ExpectedField[];
	/** Undefined if it does not matter. */
	importKey?: string | null;
}

/** The type of a field that links records. */
const LINK = 'schema_link';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function expectedField(entry: unknown): ExpectedField | undefined {
	const given = isObject(entry) ? entry : { name: entry };
	const name = textOf(given.name);
	if (name === undefined) return undefined;
	const type = textOf(given.type);
	const multiple = typeof given.multiple === 'boolean' ? given.multiple : undefined;
	const linkTableId = textOf(given.linkTableId);
	const isGivenAsLink = multiple !== undefined || linkTableId !== undefined;
	return {
		name,
		header: textOf(given.header),
		type: type ?? (isGivenAsLink ? LINK : undefined),
		readOnly: type === undefined ? undefined : given.readOnly === true,
		multiple,
		linkTableId,
	};
}

/**
 * Reads what a user expects: names, fields as *Table: Get* returns them, or its whole output.
 *
 * @returns the problem in words, if it is none of these
 */
export function expectedTable(given: unknown): ExpectedTable | string {
	const whole = isObject(given) && 'fields' in given ? given : { fields: given };
	const entries = [whole.fields].flat();
	const fields = entries.map(expectedField);
	if (fields.every((field) => field === undefined)) return 'names no fields';
	if (!fields.every((field) => field !== undefined)) {
		const position = fields.indexOf(undefined) + 1;
		return `names no field in entry ${position} of ${fields.length}`;
	}
	const { importKey } = whole as IDataObject;
	const isKnown = importKey === null || typeof importKey === 'string';
	return { fields, ...(isKnown && { importKey }) };
}

/** How a link differs from what is expected. */
function linkDifferences(
	{ name, multiple, linkTableId }: ExpectedField,
	{ metadata }: FieldDefinition,
): IDataObject[] {
	const differences: IDataObject[] = [];
	const { multiple: isMultiple = false, linkTableId: target } = metadata;
	if (multiple !== undefined && multiple !== isMultiple) {
		const [now, before] = isMultiple ? ['several records', 'one'] : ['one record', 'several'];
		const message = `The field '${name}' links to ${now}, not to ${before}`;
		differences.push({ field: name, difference: 'multiple', message });
	}
	if (linkTableId !== undefined && linkTableId !== target) {
		const now = target === undefined ? 'an unknown table' : `the table '${target}'`;
		const message = `The field '${name}' links to ${now}, not to '${linkTableId}'`;
		differences.push({ field: name, difference: 'linkedTable', message });
	}
	return differences;
}

function fieldDifferences(expected: ExpectedField, field: FieldDefinition): IDataObject[] {
	const { name } = expected;
	const differences: IDataObject[] = [];
	if (expected.type !== undefined && expected.type !== field.type) {
		const message = `The field '${name}' has the type '${field.type}', not '${expected.type}'`;
		differences.push({ field: name, difference: 'type', message });
	}
	if (expected.readOnly === false && !isWritable(field)) {
		differences.push({
			field: name,
			difference: 'readOnly',
			message: `The field '${name}' is read-only now`,
		});
	}
	if (field.type === LINK) differences.push(...linkDifferences(expected, field));
	return differences;
}

/**
 * How the table differs from what is expected, each with a message. Additional fields are no
 * difference.
 */
export function tableDifferences(
	{ fields, importKey }: ExpectedTable,
	table: TableDefinition,
): IDataObject[] {
	const isExpected = new Set(fields.map(({ name }) => name));
	const others = table.fields.filter(({ name }) => !isExpected.has(name));
	const missing = ({ name, header }: ExpectedField): IDataObject => {
		const isGone = `The field '${name}' is gone`;
		const same = others.filter((field) => field.header === header);
		if (same.length === 1) {
			const to = same[0]!.name;
			const message = `${isGone}; '${to}' has its header '${header}'`;
			return { field: name, difference: 'renamed', renamedTo: to, message };
		}
		const message = `${isGone}${didYouMean(name, others)}`;
		return { field: name, difference: 'missing', message };
	};
	const differences = fields.flatMap((expected) => {
		const field = table.fields.find(({ name }) => name === expected.name);
		return field ? fieldDifferences(expected, field) : [missing(expected)];
	});
	const key = importKeyOf(table)?.name ?? null;
	if (importKey === undefined || importKey === key) return differences;
	const named = (name: string | null) => (name === null ? 'none' : `'${name}'`);
	const message = `The import key is ${named(key)}, not ${named(importKey)}`;
	return [...differences, { field: importKey ?? key, difference: 'importKey', message }];
}
