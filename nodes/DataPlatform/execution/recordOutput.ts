/**
 * A record as the node gives it: the fields nested, so that none can be taken for something else.
 */
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { FieldValues, PlatformRecord } from '../api/types';
import type { WriteOptions } from '../api/records';
import { omitUndefined } from './itemResults';
import type { RunContext } from './run';

export const recordOutput = ({ id, created, modified, ver, fields }: PlatformRecord): IDataObject =>
	omitUndefined({ id, created, modified, ver, fields: fields as IDataObject });

export const simple: INodeProperties = {
	displayName: 'Simplify',
	name: 'simple',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** Names beside the fields of a simplified record; `error` would send it to the error output. */
const TAKEN = new Set(['id', 'created', 'modified', 'ver', 'error']);

const withFreeNames = (fields: FieldValues): FieldValues =>
	Object.keys(fields).some((name) => TAKEN.has(name))
		? Object.fromEntries(
				Object.entries(fields).map(([name, value]) => [
					TAKEN.has(name) ? `field_${name}` : name,
					value,
				]),
			)
		: fields;

/** A record with its fields at the top level; a field of a taken name is called `field_<name>`. */
export const simplified = ({ id, created, modified, ver, fields }: PlatformRecord): IDataObject =>
	omitUndefined({ id, ...(withFreeNames(fields) as IDataObject), created, modified, ver });

/** What becomes of a record that was read, as the parameter Simplify says. */
export const outputOf = (
	run: RunContext,
	index: number,
): ((record: PlatformRecord) => IDataObject) =>
	run.parameter('simple', index) === true ? simplified : recordOutput;

export const writeOptions = (run: RunContext, index: number): WriteOptions => ({
	skipAudit: run.option('options.skipAudit', index, false),
});
