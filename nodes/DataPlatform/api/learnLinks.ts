/**
 * Learns from stored values what a definition does not say of links: whether they point to one record
 * or to many, and to which table.
 *
 *     { "id": "…", "url": "https://…/apps/crm/tables/companies/data/…" } // to one
 *     { "count": 2, "url": "https://…/apps/crm/tables/contacts/data?…" } // to many; url may be missing
 */
import { or } from './filters';
import { tableAt, type LearnedLink } from './table';
import { readPage } from './pages';
import type { FieldDefinition, JsonValue, TableAt } from './types';
import { ServiceError, serviceErrorOrThrow } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';

/** Values of as many records are read at a time: few enough that a short page is the last. */
const RECORDS_READ = 24;

const TABLE = /\/api\/v2\/(?:apps\/([\w-]+)\/(?:tables|schemas)\/)?([\w-]+)\/data(?:[/?]|$)/;

function learnedFrom(value: JsonValue | undefined): LearnedLink | undefined {
	if (!isObject(value)) return undefined;
	const multiple = typeof value.count === 'number';
	if (!multiple && typeof value.id !== 'string') return undefined;
	const [, linkApplication, linkTableId] = TABLE.exec(String(value.url)) ?? [];
	return { multiple, linkTableId, linkApplication };
}

export const linksOfUnknownKind = (fields: FieldDefinition[]) =>
	fields.filter(({ type, metadata }) => type === 'schema_link' && metadata.multiple === undefined);

/**
 * Completes the metadata of links, as far as records show it: one request, rarely more, and none for
 * what was learned before.
 *
 * @throws {ServiceError} unless the platform refuses to show records
 */
export async function learnLinks({ client, at }: TableAt, fields: FieldDefinition[]) {
	const links = linksOfUnknownKind(fields);
	if (links.length === 0) return;
	const known = tableAt(client, at).learned.links;
	for (const { name, metadata } of links) Object.assign(metadata, known.get(name));
	let unknown = linksOfUnknownKind(links);
	for (let before = Infinity; unknown.length > 0 && unknown.length < before; ) {
		before = unknown.length;
		const names = unknown.map(({ name }) => name);
		const filter = or(...names.map((field) => ({ field, operator: 'notempty' })));
		const part = { limit: RECORDS_READ, skip: 0 };
		const page = await readPage({ client, at }, { filter, fields: names }, part).catch(
			serviceErrorOrThrow,
		);
		if (page instanceof ServiceError) {
			if (page.delivery === 'rejected') return;
			throw page;
		}
		for (const link of unknown) {
			const values = page.map((record) => getOwn<JsonValue>(record.fields, link.name));
			const learned = values.map(learnedFrom).find((one) => one !== undefined);
			if (!learned) continue;
			known.set(link.name, learned);
			Object.assign(link.metadata, learned);
		}
		unknown = linksOfUnknownKind(unknown);
	}
}
