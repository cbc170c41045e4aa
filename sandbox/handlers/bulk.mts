import { demandRight } from '../access/rights.mts';
import { filterScope, target, type Answer, type Call, type Handler } from '../api/request.mts';
import type { JsonObject, Table } from '../state/model.mts';
import { fieldError, Problem, tooLarge, type ErrorItem } from '../api/errors.mts';
import { filterFromQuery } from '../query/filter.mts';
import { whereOf } from '../query/sql.mts';
import { withFetchedFiles } from '../records/remoteFiles.mts';
import { Showing } from '../records/serializer.mts';
import { Writing, type UpdateMode, type Written } from '../records/writer.mts';

interface BulkItem {
	id?: string | null;
	fields: JsonObject;
}
interface BulkBody {
	bulk: BulkItem[];
	useUpsert?: boolean;
}
type Work = (writing: Writing, item: BulkItem, useUpsert: boolean) => Written | undefined;

/** POST T/data/bulk. */
export const createRecords: Handler = (call) =>
	writeMany(call, 'create', 'update', (writing, item, useUpsert) =>
		writing.create(item.fields, useUpsert),
	);

/** PATCH T/data/bulk: the fields sent alone. */
export const updateRecords: Handler = (call) => updateMany(call, 'partial');

/** PUT T/data/bulk: fields left out are cleared. */
export const replaceRecords: Handler = (call) => updateMany(call, 'full');

/** DELETE T/data/bulk. */
export const deleteRecords: Handler = (call) => {
	const { app, table } = target(call);
	demandRight(call.world, call.token, 'delete', app, table);
	const { limit, filter } = call.query as { limit: number; filter?: string };
	const where =
		filter === undefined
			? undefined
			: whereOf(table, filterFromQuery(filter), filterScope(call, table));
	call.world.records.remove(table, where, limit, call.number);
	return { status: 204 };
};

function updateMany(call: Call, mode: UpdateMode): Promise<Answer> {
	return writeMany(call, 'update', 'create', (writing, item, useUpsert) =>
		writing.update(item.id, item.fields, mode, useUpsert),
	);
}

/**
 * One transaction for the batch. A record that is unknown or unchanged counts as a success and is
 * missing from `data`; contract.md, "Bulk answers".
 */
async function writeMany(
	call: Call,
	right: 'create' | 'update',
	upsertRight: 'create' | 'update',
	work: Work,
): Promise<Answer> {
	const { world } = call;
	const { app, table } = target(call);
	const { bulk: sent, useUpsert = false } = call.body as BulkBody;
	demandRight(world, call.token, right, app, table);
	if (useUpsert) demandRight(world, call.token, upsertRight, app, table);
	const { maxBulkRecords } = world.settings;
	if (maxBulkRecords !== null && sent.length > maxBulkRecords) {
		throw tooLarge(`At most ${maxBulkRecords} records are taken in one request.`);
	}
	const bulk: BulkItem[] = [];
	for (const item of sent) {
		bulk.push({ ...item, fields: await withFetchedFiles(world.files, table, item.fields) });
	}
	const tally = world.database.transaction(() => {
		const result = attempt(call, table, bulk, useUpsert, work);
		const { batchFailure } = world.settings;
		if (result.errors.length > 0 && batchFailure !== 'perRecord') {
			throw new Problem(batchFailure === 'wholeBatch400' ? 400 : 422, result.errors);
		}
		return result;
	});
	return { status: 200, body: bulkAnswer(call, table, tally) };
}

interface Tally {
	errors: ErrorItem[];
	written: Written[];
	inserted: number;
	updated: number;
	/** Unknown, unchanged, or skipped by a fault. */
	silent: number;
}

function attempt(
	call: Call,
	table: Table,
	bulk: BulkItem[],
	useUpsert: boolean,
	work: Work,
): Tally {
	const writing = new Writing(call, table);
	const tally: Tally = { errors: [], written: [], inserted: 0, updated: 0, silent: 0 };
	bulk.forEach((item, index) => {
		const fate = call.fateOf(index, item.fields);
		if (fate === 'skip') {
			tally.silent += 1;
			return;
		}
		if (fate !== 'write') {
			tally.errors.push(at(fieldError(fate.failWith), fate.withIndex ? index : undefined));
			return;
		}
		try {
			const written = work(writing, item, useUpsert);
			if (!written || written.outcome === 'unchanged') tally.silent += 1;
			else {
				tally.written.push(written);
				tally[written.outcome] += 1;
			}
		} catch (error) {
			if (!(error instanceof Problem) || error.status !== 400) throw error;
			const told = call.world.settings.recordIndex ? index : undefined;
			tally.errors.push(...error.items.map((entry) => at(entry, told)));
		}
	});
	return tally;
}

function bulkAnswer(call: Call, table: Table, tally: Tally): JsonObject {
	const { inserted, updated, silent, errors, written } = tally;
	const showing = new Showing(call.world, call.origin, table);
	return {
		bulk: {
			successCount: inserted + updated + silent,
			insertedCount: inserted,
			...(call.world.settings.updatedCount ? { updatedCount: updated } : {}),
		},
		...(call.query.dataResponseType === 'MetadataOnly'
			? { data: written.map(({ record }) => showing.metadata(record)) }
			: {}),
		...(errors.length > 0 ? { errors: errors.map((error) => ({ ...error })) } : {}),
	};
}

function at(error: ErrorItem, index: number | undefined): ErrorItem {
	return index === undefined ? error : { ...error, RecordIndex: index };
}
