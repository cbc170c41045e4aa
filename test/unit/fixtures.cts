/** Definitions and records for the tests of pure logic. */
import type { FieldDefinition, FieldMetadata, PlatformRecord, TableDefinition } from '../../nodes/DataPlatform/api/types.ts';
import { Planner } from '../../nodes/DataPlatform/bulk/plan/plan.ts';
import type { Entry, Plan, PlanInput, PlanOptions } from '../../nodes/DataPlatform/bulk/terms.ts';

export const fieldOf = (name: string, type = 'text', metadata: FieldMetadata = {}): FieldDefinition => ({
	name,
	header: name,
	type,
	metadata: type === 'schema_link' ? { multiple: false, ...metadata } : metadata,
});

export const tableOf = (...fields: FieldDefinition[]): TableDefinition => ({
	id: 'table-1',
	internalName: 'people',
	header: 'People',
	fields,
	savedViews: [],
});

/** A table with an import key, a required field, a number and a read-only field. */
export const people = tableOf(
	fieldOf('email', 'text', { importKey: true }),
	fieldOf('surname', 'text', { required: true }),
	fieldOf('age', 'number', { min: 0, max: 150 }),
	fieldOf('fullName', 'calculated'),
);

export const sendableOf = (entry: Partial<Entry>): Entry => ({ index: 0, fields: {}, ...entry });

export const storedOf = (record: Partial<PlatformRecord> & { id: string }): PlatformRecord => ({
	created: '2026-01-01T00:00:00.501Z',
	modified: '2026-01-01T00:00:00.501Z',
	ver: 1,
	fields: {},
	...record,
});

/** Plans rows, all at once. */
export function planRecords(table: TableDefinition, rows: Iterable<PlanInput>, options: PlanOptions): Plan {
	const planner = new Planner(table, options);
	for (const row of rows) planner.add(row);
	return planner.finish();
}

/** What an action throws. */
export function thrownBy(action: () => unknown): unknown {
	try {
		action();
	} catch (error) {
		return error;
	}
	throw new Error('Nothing was thrown');
}
