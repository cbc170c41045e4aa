/** The table with a record that has a large file. */
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { BenchEnv } from './benchEnv.mts';
import { MIB } from './measure.mts';
import type { Target } from './workers/engine.mts';

/** The field for the file. */
export const FILE_LOCATION = { app: 'bench', table: 'papers', field: 'file' };

export const recordPath = (record: string) =>
	`/api/v2/apps/${FILE_LOCATION.app}/tables/${FILE_LOCATION.table}/data/${record}`;

export interface AttachmentTask extends Target {
	/** The id of the record. */
	record: string;
	/** The file to upload. */
	path: string;
	bytes: number;
}

export async function writeRandomFile(path: string, megabytes: number): Promise<void> {
	const file = await open(path, 'w');
	for (let written = 0; written < megabytes; written += 1) await file.write(randomBytes(MIB));
	await file.close();
}

/** Creates the table with one record and returns the record's id. */
export async function createFileRecord({ admin }: BenchEnv): Promise<string> {
	const { app, table, field } = FILE_LOCATION;
	await admin.createTable({
		app,
		table: { internalName: table, fields: [{ name: field, type: 'file' }] },
		records: [{ fields: {} }],
	});
	return (await admin.records(app, table))[0]!.id;
}
