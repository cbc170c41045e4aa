/**
 * The lists of resource locators: applications, tables and records, with search.
 */
import type { INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import type { FieldDefinition, PlatformRecord, TableDefinition } from '../api/types';
import { importKeyOf } from '../fields';
import { getOwn } from '../transport/json';
import { MAX_PAGE_SIZE } from '../api/endpoints';
import { readRecords } from '../api/readRecords';
import { and, or } from '../api/filters';
import { readApplications, readTables } from '../api/structure';
import { table } from '../parameters/select/table';
import { editorList, type Editor } from './editorContext';

/** The words of a search. An entry must contain all of them, in any order. */
const wordsOf = (filter = '') => filter.trim().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);

/** More words would make a long request and rarely narrow the search. */
const MAX_WORDS = 8;

const matches = (filter = '') => {
	const words = wordsOf(filter.toLowerCase());
	return ({ name, value }: INodeListSearchItems) => {
		const text = `${name} ${value}`.toLowerCase();
		return words.every((word) => text.includes(word));
	};
};

/** A list of all entries that a search matches, sorted. */
const searchList = (entriesOf: (editor: Editor) => Promise<INodeListSearchItems[]>) =>
	editorList(async (editor, filter?: string) => {
		const entries = (await entriesOf(editor)).filter(matches(filter));
		return { results: entries.sort((a, b) => a.name.localeCompare(b.name)) };
	});

/** The applications that the token may see. */
const searchApplications = searchList(async ({ client }) =>
	(await readApplications(client)).map(({ name, internalName }) => ({ name, value: internalName })),
);

/** The tables of the chosen application, or of all applications if none is chosen. */
const searchTables = searchList(async ({ application, client }) => {
	if (application !== undefined) {
		const tables = await readTables(client, application);
		return tables.map(({ header, internalName }) => ({ name: header, value: internalName }));
	}
	const tables: INodeListSearchItems[] = [];
	for (const { id: owner, name } of await readApplications(client)) {
		for (const { id, header } of await readTables(client, owner)) {
			// Several applications may have tables of one internal name.
			tables.push({ name: `${name}: ${header}`, value: id });
		}
	}
	return tables;
});

const PICKER_PAGE = 50;

/** The names of the import key and of the first fields of some types. */
function titleFields(fields: FieldDefinition[], types: string[], key?: FieldDefinition): string[] {
	const texts = fields.filter(({ type }) => types.includes(type)).slice(0, 3);
	return [...new Set([key, ...texts])]
		.filter((field) => field !== undefined)
		.map(({ name }) => name);
}

/** The title of a record in a list: its import key, or its first texts. */
function titleOf(
	record: PlatformRecord,
	{ fields }: TableDefinition,
	key?: FieldDefinition,
): string {
	const shown = titleFields(fields, ['text', 'long_text'], key)
		.map((name) => getOwn(record.fields, name))
		.filter((value) => value !== null && value !== undefined && value !== '');
	return shown.map(String).join(' · ') || record.id;
}

/** The records of the chosen table, page by page. The search looks at their titles. */
const searchRecords = editorList(
	async (editor, filter?: string, paginationToken?: string): Promise<INodeListSearchResult> => {
		const definition = await editor.table();
		if (!definition) throw table.error('No table is chosen', 'Choose a table first.');
		const key = importKeyOf(definition);
		const searched = titleFields(definition.fields, ['text'], key);
		const isSearched = searched.length > 0;
		const words = isSearched ? wordsOf(filter) : [];
		// Without a field to search, read more records and look at their titles.
		const limit = isSearched || !filter ? PICKER_PAGE : MAX_PAGE_SIZE;
		const contains = (word: string) =>
			or(...searched.map((field) => ({ field, operator: 'contains', value: word })));
		const skip = Number(paginationToken ?? 0);
		const query = { sort: searched[0], filter: and(...words.map(contains)), offset: skip };
		const records: PlatformRecord[] = [];
		for await (const page of readRecords(editor.handle, query, limit)) {
			records.push(...page);
		}
		const entries = records.map((record) => ({
			name: titleOf(record, definition, key),
			value: record.id,
		}));
		return {
			results: isSearched ? entries : entries.filter(matches(filter)),
			...(records.length === limit && { paginationToken: String(skip + limit) }),
		};
	},
);

/** The nodes' `methods`. */
export const listSearch = { searchApplications, searchRecords, searchTables };
