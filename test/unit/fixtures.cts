/** Definitions and records for the tests of pure logic. */
import { prepareRecord, type PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import type { PlannedRecord } from '../../nodes/DataPlatform/bulk/plan.ts';
import type {
	FieldDefinition,
	FieldMetadata,
	PlatformRecord,
	TableDefinition,
} from '../../nodes/DataPlatform/api/types.ts';

export const fieldOf = (
	name: string,
	type = 'text',
	metadata: FieldMetadata = {},
): FieldDefinition => ({ name, header: name, type, metadata });

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

export const sendableOf = (record: Partial<PlannedRecord>): PreparedRecord =>
	prepareRecord({ index: 0, fields: {}, ...record });

export const storedOf = (record: Partial<PlatformRecord> & { id: string }): PlatformRecord => ({
	created: '2026-01-01T00:00:00.501Z',
	modified: '2026-01-01T00:00:00.501Z',
	ver: 1,
	fields: {},
	...record,
});
