/**
 * The record of an operation that writes one record for each item.
 */
import { addressKey } from '../api/endpoints';
import type { WriteOptions } from '../api/records';
import type { TableAddress, TableDefinition } from '../api/types';
import { planRecords, type MatchOn, type PlanOptions, type Problem } from '../bulk/plan';
import type { Entry } from '../bulk/entry';
import type { NameOf } from '../execution/parameter';
import type { RunContext } from '../execution/run';
import { InputError } from '../transport/errors';
import { isObject } from '../transport/json';
import { MIB } from '../transport/streams';
import { listed } from '../transport/text';
import { linkResolver, linkRules, linkValues, type LinkParameter } from './links';
import { requestSettings, skipAudit } from './requests';
import { tableOf, type TableParameter } from './table';
import {
	emptyValues,
	hintIgnored,
	planOptions,
	unknownFields,
	valuesReader,
	type PlanningParameter,
} from './values';

/** Options of the operations that write one record for each item. */
export const singleWriteOptions = [
	emptyValues,
	linkValues,
	skipAudit,
	unknownFields,
	...requestSettings,
];

export const writeOptions = (
	run: RunContext<NameOf<typeof skipAudit>>,
	index: number,
): WriteOptions => ({ skipAudit: skipAudit.of(run, index) });

/** How large a request that creates linked records may be. */
const MAX_LINK_BATCH_BYTES = 4 * MIB;

/** The table and the values, both without one field. */
function without(name: string, table: TableDefinition, values: unknown) {
	const fields = table.fields.filter((field) => field.name !== name);
	const entries = isObject(values) ? Object.entries(values).filter(([key]) => key !== name) : [];
	return { table: { ...table, fields }, values: Object.fromEntries(entries) };
}

/** The parameters that `plannedRecord` reads. */
export type PlannedRecordParameter =
	| TableParameter
	| PlanningParameter
	| LinkParameter
	| NameOf<typeof skipAudit>;

interface PlannedRecordOptions {
	id?: string;
	matchOn?: MatchOn;
	except?: string;
	defersLinks?: boolean;
}

/**
 * One item's record, checked against the table.
 *
 * @param id of an existing record
 * @param matchOn how to find its record, if the mode does not determine that
 * @param except a field that is written separately
 * @param defersLinks whether `createLinkedRecords` creates linked records later
 * @throws {InputError} that names all its problems
 */
export async function plannedRecord(
	run: RunContext<PlannedRecordParameter>,
	index: number,
	mode: PlanOptions['mode'],
	{ id, matchOn, except, defersLinks = false }: PlannedRecordOptions = {},
): Promise<Entry> {
	const at = tableOf(run, index);
	const definition = await run.definition(at);
	const mapped = valuesReader(run, index, definition)(index);
	const { table, values } =
		except === undefined
			? { table: definition, values: mapped }
			: without(except, definition, mapped);
	const links = linkResolver(run, at);
	const rules = linkRules(run, index, table);
	if (rules.size > 0 && run.items.length > 1) await lookAhead(run, at, definition);
	const rows = await links.resolve(table, [{ index, values, id }], rules);
	const plan = planRecords(table, rows, { ...planOptions(run, index, mode, 'error'), matchOn });
	hintIgnored(run, plan);
	const record = plan.records[0];
	if (!record) throw nothingSent(plan.problems);
	if (!defersLinks) await createLinkedRecords(run, index, record, table);
	return record;
}

/** Looks up the links of all items at once, to save a request for each item. */
async function lookAhead(
	run: RunContext<PlannedRecordParameter>,
	at: TableAddress,
	definition: TableDefinition,
): Promise<void> {
	const rowOf = (index: number) => {
		try {
			const { application, table } = tableOf(run, index);
			if (application !== at.application || table !== at.table) return [];
			const values = valuesReader(run, index, definition)(index);
			return [{ values, rules: linkRules(run, index, definition) }];
		} catch {
			// A problem of an item is reported when it is the item's turn.
			return [];
		}
	};
	await run.once(
		`links ahead ${addressKey(at)}`,
		async () =>
			await linkResolver(run, at).lookAhead(definition, [...run.items.keys()].flatMap(rowOf)),
	);
}

/**
 * Creates the linked records that a planned record needs.
 *
 * @throws {InputError} if one can't be created
 */
export async function createLinkedRecords(
	run: RunContext<PlannedRecordParameter>,
	index: number,
	record: Entry,
	table: TableDefinition,
): Promise<void> {
	const plan = { records: [record], problems: [], merged: new Map(), ignored: new Set<string>() };
	await linkResolver(run, tableOf(run, index)).createMissing(plan, table, {
		batchBytes: MAX_LINK_BATCH_BYTES,
		...writeOptions(run, index),
	});
	if (plan.problems.length > 0) throw nothingSent(plan.problems);
}

const nothingSent = (problems: Problem[]) =>
	new InputError(`Nothing was sent: ${listed(problems.map(({ message }) => message))}`, {
		field: problems[0]?.field,
		hint:
			problems[0]?.hint ??
			"Correct it under 'Values to Send', or in the input if fields are mapped automatically.",
	});
