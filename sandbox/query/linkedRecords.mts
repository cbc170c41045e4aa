import { demandRight } from '../access/rights.mts';
import type { Call } from '../api/request.mts';
import { appOf, findTable, linkedTable } from '../catalog/find.mts';
import { held, type Table } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import type { Sql } from '../store/recordStore.mts';

/** The records that one record links to, as its link field's `url` asks; contract.md, section 3. */
export function linkedRecords(call: Call, table: Table): Sql | undefined {
	const { linkId, linkTableId, linkField } = call.query as Record<string, string | undefined>;
	if (linkId === undefined && linkTableId === undefined && linkField === undefined) {
		return undefined;
	}
	if (linkId === undefined || linkTableId === undefined || linkField === undefined) {
		throw invalid('linkId, linkTableId and linkField go together.');
	}
	const source = findTable(call.world, linkTableId);
	demandRight(call.world, call.token, 'read', appOf(call.world, source), source);
	const field = source.fields.find((entry) => entry.name === linkField);
	if (field?.type !== 'schema_link' || linkedTable(call.world, source, field).id !== table.id) {
		throw invalid(
			`'${linkField}' of table '${source.internalName}' is no link to '${table.internalName}'.`,
		);
	}
	const record = call.world.records.get(source, linkId);
	if (!record) throw notFound(`There is no record '${linkId}' in '${source.internalName}'.`);
	const ids = [held(record.fields, linkField) ?? []].flat();
	return { text: 'r.id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(ids)] };
}
