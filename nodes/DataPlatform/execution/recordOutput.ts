/**
 * A record as the node gives it: the fields nested, so that none can be taken for something else.
 */
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues, PlatformRecord } from '../api/types';
import type { WriteOptions } from '../api/records';
import { omitUndefined } from './itemResults';
import type { RunContext } from './run';
import type { Parameter } from './operation';

export const recordOutput = ({ id, created, modified, ver, fields }: PlatformRecord): IDataObject =>
	omitUndefined({ id, created, modified, ver, fields: fields as IDataObject });

export const simple: Parameter<'simple'> = {
	displayName: 'Simplify',
	name: 'simple',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** Names beside the fields of a simplified record; `error` would send it to the error output. */
const RESERVED_NAMES = ['id', 'created', 'modified', 'ver', 'error'];

/** What a field of a reserved name is called at the top level; never the name of another field. */
function freeName(name: string, isField: (name: string) => boolean): string {
	const free = `field_${name}`;
	return isField(free) ? freeName(free, isField) : free;
}

function withFreeNames(fields: FieldValues): FieldValues {
	if (!RESERVED_NAMES.some((name) => Object.hasOwn(fields, name))) return fields;
	const isField = (name: string) => Object.hasOwn(fields, name);
	return Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [
			RESERVED_NAMES.includes(name) ? freeName(name, isField) : name,
			value,
		]),
	);
}

/** The fields of a table that a simplified record gives another name: that name, and the field's. */
export const renamedFields = (fields: ReadonlySet<string>): Array<[string, string]> =>
	RESERVED_NAMES.filter((name) => fields.has(name)).map((name) => [
		freeName(name, (other) => fields.has(other)),
		name,
	]);

/** A record with its fields at the top level; a field of a reserved name is called `field_<name>`. */
export const simplified = ({ id, created, modified, ver, fields }: PlatformRecord): IDataObject =>
	omitUndefined({ id, ...(withFreeNames(fields) as IDataObject), created, modified, ver });

/** What becomes of a record that was read, as the parameter Simplify says. */
export const outputOf = (
	run: RunContext<'simple'>,
	index: number,
): ((record: PlatformRecord) => IDataObject) =>
	run.parameter('simple', index) === true ? simplified : recordOutput;

export const writeOptions = (
	run: RunContext<'options.skipAudit'>,
	index: number,
): WriteOptions => ({
	skipAudit: run.flag('options.skipAudit', 'Skip Audit', index),
});
