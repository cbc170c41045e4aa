import type { Entry } from '../../bulk/entry';
import { readBeforeAdding, writeOne, writeOneMatched } from '../../bulk/single';
import { omitUndefined } from '../../execution/itemResults';
import type { RunContext } from '../../execution/run';
import { fieldRules, fieldRulesOf } from '../../parameters/fieldRules';
import { itemOperation } from '../../parameters/operation';
import {
	createLinkedRecords,
	plannedRecord,
	singleWriteOptions,
	writeOptions,
} from '../../parameters/plannedRecord';
import { outputOf, simple } from '../../parameters/reading';
import { recordId, recordKeyOf, tableOf, tableParameters } from '../../parameters/table';
import { columnsToUpdate, emptyValues } from '../../parameters/values';
import { updateMode } from '../../parameters/writing';

function noticeNothing(run: RunContext<never>) {
	run.hintOnce(
		`No field has a value, so nothing was changed. Add fields with values, or set ${emptyValues} in the options to clear what is empty.`,
		'warning',
	);
}

const BY_ID = {
	on: 'recordId',
	ifFound: 'update',
	ifMissing: 'error',
	multipleMatches: 'error',
} as const;

export const update = itemOperation({
	value: 'update',
	name: 'Update',
	action: 'Update record',
	description: 'Update one record by its ID',
	fields: [...tableParameters, recordId, columnsToUpdate, updateMode, simple],
	options: [...singleWriteOptions, fieldRules],
	// An update that appends values would append them again in another attempt of the node.
	notIdempotent: true,
	retriesUnknown: true,
	concurrency: 4,
	concurrencyKey: (run, index) => recordKeyOf(run, index),
	execute: async (run, index) => {
		const mode = updateMode.of(run, index) === 'replace' ? 'replace' : 'update';
		const id = recordId.of(run, index);
		const at = tableOf(run, index);
		const table = await run.definition(at);
		const rules = fieldRulesOf(run, index, table, BY_ID.on, mode);
		const record = await plannedRecord(run, index, mode, { id, defersLinks: rules !== undefined });
		if (Object.keys(record.fields).length === 0) noticeNothing(run);
		const shape = outputOf(run, index);
		const target = { client: run.client, at, table };
		const options = writeOptions(run, index);
		if (rules) {
			const matching = { ...BY_ID, fieldRules: rules };
			const prepare = async (each: Entry) => await createLinkedRecords(run, index, each, table);
			const [written] = await writeOneMatched(target, record, matching, options, prepare, 'update');
			return omitUndefined({ ...shape(written!), kept: written!.kept });
		}
		const before = await readBeforeAdding(target, record);
		return shape(await writeOne(target, { ...record, before }, mode, options));
	},
});
