import { requireRight } from '../access/rights.mts';
import { filterScope, addressedTable, type Handler } from '../api/request.mts';
import type { Json, JsonObject } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { columnOf, isKnownName, type Column } from '../query/columns.mts';
import { filterFromBody } from '../query/filter.mts';
import { filterToSql } from '../query/sql.mts';
import { inUtc, shownTime } from '../fields/time.mts';

type Aggregation = 'min' | 'max' | 'sum' | 'avg';
type SummaryBody = Parameters<typeof filterFromBody>[0] & {
	fields: Record<string, { aggregations: Aggregation[] }>;
};

/** POST T/data/summary. */
export const summarizeRecords: Handler = (request) => {
	const { app, table } = addressedTable(request);
	requireRight(request.state, request.token, 'read', app, table);
	const body = request.body as SummaryBody;
	const scope = filterScope(request, table);
	const isUsed = (name: string) => !scope.ignoresUnknownNames || isKnownName(table, name);
	const used = Object.entries(body.fields).filter(([name]) => isUsed(name));

	const aggregates = used.flatMap(([name, { aggregations }]) =>
		[...new Set(aggregations)].map((aggregation) => {
			const column = columnOf(table, name);
			const isNumber = column.as === 'number';
			const isDate = ['date', 'datetime', 'instant'].includes(column.as);
			const allowed = isNumber || (isDate && ['min', 'max'].includes(aggregation));
			if (!allowed || column.list) throw invalid(`'${name}' has no ${aggregation}.`);
			return { name, aggregation, column };
		}),
	);
	const expressions = aggregates.map(
		({ aggregation, column }, at) => `${aggregation}(${column.expression('r')}) AS a${at}`,
	);
	const where = filterToSql(table, filterFromBody(body), scope);
	const row = request.state.records.aggregate(
		table,
		['COUNT(*) AS count', ...expressions].join(', '),
		where,
	);
	const { settings } = request.state;
	const time = (instant: number) => inUtc(instant, settings.timePrecisionMs);
	const fields = Object.create(null) as { [name: string]: JsonObject };
	aggregates.forEach(({ name, aggregation, column }, at) => {
		const value: Json = row[`a${at}`] ?? null;
		(fields[name] ??= {})[aggregation] =
			column.as === 'datetime' && value !== null
				? shownTime(String(value), settings)
				: serialize(value, column.as, time);
	});
	return { status: 200, body: { data: { count: row.count ?? 0, fields } } };
};

/** A day is returned as its midnight. */
function serialize(value: Json, as: Column['as'], time: (instant: number) => string): Json {
	if (as === 'date' && value !== null) return `${String(value)}T00:00:00Z`;
	return as === 'instant' && typeof value === 'number' ? time(value) : value;
}
