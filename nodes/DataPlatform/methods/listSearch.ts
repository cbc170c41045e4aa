/**
 * The lists of resource locators: applications, tables and records, with search.
 */
import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import type { FieldDefinition, PlatformRecord, TableDefinition } from '../api/types';
import { importKeyOf } from '../fields';
import { getOwn } from '../transport/json';
import { readRecords } from '../api/readRecords';
import { and, or } from '../api/filters';
import { readApplications, readTables } from '../api/tables';
import { table } from '../parameters/table';
import { inEditor } from './editorContext';

/** The words of a search. An entry must contain all of them, in any order. */
const wordsOf = (filter = '') => filter.trim().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);

/** More words would make a long request and rarely narrow the search. */
const MAX_WORDS = 8;

const matching = (entries: INodeListSearchItems[], filter = '') => {
	const words = wordsOf(filter.toLowerCase());
	return entries
		.filter(({ name, value }) => {
			const text = `${name} ${value}`.toLowerCase();
			return words.every((word) => text.includes(word));
		})
		.sort((a, b) => a.name.localeCompare(b.name));
};

/** The applications that the token may see. */
async function searchApplications(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	return await inEditor(this, async ({ client }) => {
		const applications = await readApplications(client);
		const entries = applications.map(({ name, internalName }) => ({ name, value: internalName }));
		return { results: matching(entries, filter) };
	});
}

/** The tables of the chosen application, or of all applications if none is chosen. */
async function searchTables(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	return await inEditor(this, async ({ application, client }) => {
		if (application !== undefined) {
			const tables = await readTables(client, application);
			const entries = tables.map(({ header, internalName }) => ({
				name: header,
				value: internalName,
			}));
			return { results: matching(entries, filter) };
		}
		const entries = [];
		for (const { id, name } of await readApplications(client)) {
			const tables = await readTables(client, id);
			entries.push(...tables.map((each) => ({ name: `${name}: ${each.header}`, value: each.id })));
		}
		return { results: matching(entries, filter) };
	});
}

const PICKER_PAGE = 50;

/** The names of the import key and of the first fields of some types. */
function titleFields(fields: FieldDefinition[], types: string[], key?: FieldDefinition): string[] {
	const texts = fields.filter(({ type }) => types.includes(type)).slice(0, 3);
	return [...new Set([...(key ? [key] : []), ...texts])].map(({ name }) => name);
}

/** The title of a record in a list: its import key, or its first texts. */
export function titleOf(
	record: PlatformRecord,
	{ fields }: TableDefinition,
	key?: FieldDefinition,
): string {
	const shown = titleFields(fields, ['text', 'long_text'], key)
		.map((name) => getOwn(record.fields, name))
		.filter((value) => value !== null && value !== undefined && value !== '');
	return shown.length > 0 ? shown.map(String).join(' · ') : record.id;
}

/** The records of the chosen table, page by page. The search looks at their titles. */
async function searchRecords(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await inEditor(this, async (editor) => {
		const definition = await editor.table();
		if (!definition) throw table.error('No table is chosen', 'Choose a table first.');
		const key = importKeyOf(definition);
		const searched = titleFields(definition.fields, ['text'], key);
		const words = searched.length > 0 ? wordsOf(filter) : [];
		const contains = (word: string) =>
			or(...searched.map((field) => ({ field, operator: 'contains', value: word })));
		const query = { sort: searched[0], filter: and(...words.map(contains)) };
		const skip = Number(paginationToken ?? 0);
		const at = { application: editor.application, table: definition.id };
		const records: PlatformRecord[] = [];
		for await (const page of readRecords(editor.client, at, query, PICKER_PAGE, undefined, skip)) {
			records.push(...page);
		}
		return {
			results: records.map((record) => ({
				name: titleOf(record, definition, key),
				value: record.id,
			})),
			...(records.length === PICKER_PAGE && {
				paginationToken: String(skip + PICKER_PAGE),
			}),
		};
	});
}

/** The nodes' `methods`. */
export const listSearch = { searchApplications, searchRecords, searchTables };
