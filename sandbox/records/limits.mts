import { appOf } from '../catalog/find.mts';
import { LimitError } from '../api/errors.mts';
import type { Table } from '../state/model.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** Throws a LimitError if the table's application may have no further record. */
export function requireRoomForRecord(state: SandboxState, table: Table): void {
	const { maxRecords } = state.settings;
	if (maxRecords === null) return;
	const tables = state.tables.all().filter(({ appId }) => appId === table.appId);
	const stored = tables.reduce((sum, each) => sum + state.records.count(each), 0);
	if (stored < maxRecords) return;
	throw new LimitError(
		`The limit of ${maxRecords} records in '${appOf(state, table).name}' is reached.`,
	);
}

/** Throws a LimitError if a new file of this size does not fit beside those that records have. */
export function requireRoomForFile(state: SandboxState, size: number): void {
	const { maxStorageBytes } = state.settings;
	if (maxStorageBytes === null) return;
	const used = state.tables.all().flatMap((table) => {
		const files = state.files.ofTable(table.id);
		return files.filter(({ id }) => state.records.mentions(table, id)).map((file) => file.size);
	});
	if (used.reduce((sum, bytes) => sum + bytes, size) <= maxStorageBytes) return;
	throw new LimitError(`The storage of ${maxStorageBytes} bytes is full.`);
}
