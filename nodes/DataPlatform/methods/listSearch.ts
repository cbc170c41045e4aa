/**
 * The lists of resource locators: applications, tables and records, with search.
 */
import type { INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import type { PlatformRecord, TableDefinition } from '../api/types';
import { importKeyOf } from '../fields';
import { getOwn } from '../transport/json';
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

/** The fields by which people know a record: the import key and the first texts. */
function titleFields(table: TableDefinition): string[] {
	const texts = table.fields.filter(({ type }) => type === 'text').slice(0, 3);
	const fields = new Set([importKeyOf(table), ...texts]);
	return [...fields].flatMap((field) => (field ? [field.name] : []));
}

/** The title of a record in a list; its ID if those fields are empty. */
function titleOf({ id, fields }: PlatformRecord, names: string[]): string {
	const shown = names
		.map((name) => getOwn(fields, name))
		.filter((value) => value !== null && value !== undefined && value !== '');
	return shown.map(String).join(' · ') || id;
}

/** The records of the chosen table, page by page. A search looks at the fields of their titles. */
const searchRecords = editorList(
	async (editor, filter?: string, paginationToken?: string): Promise<INodeListSearchResult> => {
		const definition = await editor.table();
		if (!definition) throw table.error('No table is chosen', 'Choose a table first.');
		const names = titleFields(definition);
		const contains = (word: string) =>
			or(...names.map((field) => ({ field, operator: 'contains', value: word })));
		const words = names.length > 0 ? wordsOf(filter) : [];
		const skip = Number(paginationToken ?? 0);
		const query = { sort: names[0], filter: and(...words.map(contains)), offset: skip };
		const records: PlatformRecord[] = [];
		for await (const page of readRecords(editor.handle, query, PICKER_PAGE)) {
			records.push(...page);
		}
		return {
			results: records.map((record) => ({ name: titleOf(record, names), value: record.id })),
			...(records.length === PICKER_PAGE && { paginationToken: String(skip + PICKER_PAGE) }),
		};
	},
);

/** The nodes' `methods`. */
export const listSearch = { searchApplications, searchRecords, searchTables };
