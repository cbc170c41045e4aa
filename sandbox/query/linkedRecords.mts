import { requireRight } from '../access/rights.mts';
import type { ApiRequest } from '../api/request.mts';
import { appOf, findTable, linkedTable } from '../catalog/find.mts';
import { getOwn, type Table } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import type { Sql } from '../store/recordStore.mts';

/** Selects the records linked to one record, as the `url` of its link field requests them. */
export function linkedRecords(request: ApiRequest, table: Table): Sql | undefined {
	const { linkId, linkTableId, linkField } = request.query as Record<string, string | undefined>;
	if (linkId === undefined && linkTableId === undefined && linkField === undefined) {
		return undefined;
	}
	if (linkId === undefined || linkTableId === undefined || linkField === undefined) {
		throw invalid('linkId, linkTableId and linkField must be used together.');
	}
	const source = findTable(request.state, linkTableId);
	requireRight(request.state, request.token, 'read', appOf(request.state, source), source);
	const field = source.fields.find((entry) => entry.name === linkField);
	if (field?.type !== 'schema_link' || linkedTable(request.state, source, field).id !== table.id) {
		throw invalid(
			`'${linkField}' of table '${source.internalName}' is not a link to '${table.internalName}'.`,
		);
	}
	const record = request.state.records.get(source, linkId);
	if (!record) throw notFound(`There is no record '${linkId}' in '${source.internalName}'.`);
	const ids = [getOwn(record.fields, linkField) ?? []].flat();
	return { text: 'r.id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(ids)] };
}
