/**
 * The fields that are written in the same request as a record's files.
 */
import type { TableDefinition } from '../../api/types';
import { planOne } from '../../bulk/pipeline';
import { resolveTimeZone } from '../../fields/timeZone';
import type { RunContext } from '../../run/run';
import { linkResolver, linkRules, type LinkParameter } from '../../parameters/write/writingLinks';
import { tableOf, type TableParameter } from '../../parameters/select/table';
import {
	hintIgnored,
	planOptions,
	valuesReader,
	type PlanningParameter,
} from '../../parameters/write/columns';
import { membersOf } from '../../transport/json';
import type { Entry, RowProblem } from '../../bulk/terms';
import { inputError } from '../record/inputError';

export type OtherFieldsParameter = TableParameter | PlanningParameter | LinkParameter;

/** The table and the values, both without one field. */
function without(name: string, table: TableDefinition, values: unknown) {
	const fields = table.fields.filter((field) => field.name !== name);
	const entries = Object.entries(membersOf(values)).filter(([key]) => key !== name);
	return { table: { ...table, fields }, values: Object.fromEntries(entries) };
}

/**
 * An item's record without its files, checked against the table. Creates the linked records that it
 * needs.
 *
 * @param fileField the field that gets the files
 * @param id of an existing record; a new one is created if it is not set
 * @throws {InputError} that names all its problems
 */
export async function otherFields(
	run: RunContext<OtherFieldsParameter>,
	index: number,
	fileField: string,
	id?: string,
): Promise<Entry> {
	const handle = tableOf(run, index);
	const definition = await handle.definition();
	const mapped = valuesReader(run, index, definition)(index);
	const { table, values } = without(fileField, definition, mapped);
	await resolveTimeZone(handle.with(table), [values]);
	const links = linkResolver(run, handle);
	const rules = linkRules(run, index, table);
	const planning = {
		...planOptions(run, index, {
			mode: id === undefined ? 'create' : 'update',
			duplicates: 'error',
		}),
		mayBeEmpty: true,
	};
	const plan = await planOne({ table, links, linkRules: rules, planning }, { index, values, id });
	hintIgnored(run, plan);
	requireNoProblems(plan.problems);
	await links.createMissing(plan, table);
	requireNoProblems(plan.problems);
	return plan.records[0]!;
}

/** @throws {InputError} */
function requireNoProblems(problems: RowProblem[]) {
	if (problems.length > 0) throw inputError(problems, 1, 0);
}
