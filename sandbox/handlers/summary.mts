import { demandRight } from '../access/rights.mts';
import { filterScope, target, type Handler } from '../api/request.mts';
import type { Json, JsonObject } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { columnOf, type Column } from '../query/columns.mts';
import { filterFromBody } from '../query/filter.mts';
import { whereOf } from '../query/sql.mts';
import { withOffset } from '../fields/time.mts';

type Aggregation = 'min' | 'max' | 'sum' | 'avg';
type SummaryBody = Parameters<typeof filterFromBody>[0] & {
	fields: Record<string, { aggregations: Aggregation[] }>;
};

/** POST T/data/summary. */
export const summarizeRecords: Handler = (call) => {
	const { app, table } = target(call);
	demandRight(call.world, call.token, 'read', app, table);
	const body = call.body as SummaryBody;

	const wanted = Object.entries(body.fields).flatMap(([name, { aggregations }]) =>
		[...new Set(aggregations)].map((aggregation) => {
			const column = columnOf(table, name);
			const isNumber = column.as === 'number';
			const isDate = ['date', 'datetime', 'instant'].includes(column.as);
			const allowed = isNumber || (isDate && ['min', 'max'].includes(aggregation));
			if (!allowed || column.list) throw invalid(`'${name}' has no ${aggregation}.`);
			return { name, aggregation, column };
		}),
	);
	const expressions = wanted.map(
		({ aggregation, column }, at) => `${aggregation}(${column.expression('r')}) AS a${at}`,
	);
	const where = whereOf(table, filterFromBody(body), filterScope(call, table));
	const row = call.world.records.aggregate(
		table,
		['COUNT(*) AS count', ...expressions].join(', '),
		where,
	);
	const fields = Object.create(null) as { [name: string]: JsonObject };
	wanted.forEach(({ name, aggregation, column }, at) => {
		const value: Json = row[`a${at}`] ?? null;
		(fields[name] ??= {})[aggregation] = shown(value, column.as, app.timeZone);
	});
	return { status: 200, body: { data: { count: row.count ?? 0, fields } } };
};

/** A summary shows a day as its midnight. */
function shown(value: Json, as: Column['as'], timeZone: string): Json {
	if (as === 'date' && value !== null) return `${String(value)}T00:00:00Z`;
	return as === 'instant' && typeof value === 'number' ? withOffset(value, timeZone) : value;
}
