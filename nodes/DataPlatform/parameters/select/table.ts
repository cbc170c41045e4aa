/**
 * The parameters that select an application, a table and a record.
 */
import { tableAt, type Table } from '../../api/table';
import type { TableAddress } from '../../api/types';
import type { NameOf, ParameterReader } from '../../parameterKinds/parameter';
import { custom, names, text } from '../../parameterKinds/kinds';
import { requireText } from '../../parameterKinds/requireValue';
import type { RunContext } from '../../run/run';
import { LABELS } from '../../labels';

/** The platform's pages and its API name the same things in other words. */
const APPS = 'apps?';
const TABLES = '(?:tables|schemas?)';

/**
 * Finds a name in a pasted URL such as `…/apps/<name>/tables/<name>/data/<name>`: the one in
 * parentheses. The longest format comes first, because an application may itself be called `apps`.
 */
const addresses = (...formats: string[]) =>
	formats.map((format) => {
		const words = format.replace('/apps/', `/${APPS}/`).replace('/tables/', `/${TABLES}/`);
		return new RegExp(words.replaceAll('<name>', '[^/?#]+'));
	});

interface LocatorLook extends Partial<Parameters<typeof custom>[2]> {
	label: string;
	/** The method that searches the choices. */
	search: string;
	id: { displayName?: string; placeholder: string; hint?: string };
	/** Spaces around the value belong to it. */
	isExact?: boolean;
	/** An example URL. */
	url: string;
	addresses: RegExp[];
}

const locator = <Name extends string>(
	name: Name,
	{ search, id, url, addresses: formats, isExact, ...look }: LocatorLook,
) => {
	const typeOptions = { searchListMethod: search, searchable: true };
	const shown = {
		preset: { mode: 'list', value: '' },
		...look,
		modes: [
			{ displayName: 'From List', name: 'list', type: 'list' as const, typeOptions },
			{ displayName: 'By ID', name: 'id', type: 'string' as const, ...id },
			{ displayName: 'By URL', name: 'url', type: 'string' as const, placeholder: `e.g. ${url}` },
		],
	};
	return custom(name, 'resourceLocator', shown, (value, parameter) =>
		requireText(value, parameter, formats, isExact),
	);
};

const PLATFORM = 'https://platform.example.com';

/** The application; '' to address the table only by its name. */
export const application = locator('application', {
	label: LABELS.application,
	description:
		'Optional: the application the table belongs to. Empty means all applications: the table is then chosen among those of all, and addressed by its name or ID alone.',
	aiHint:
		"{ __rl: true, mode: 'id', value: 'internalName' } if the user named it, else mode 'list' and value '' for the user to choose. Never a plain string.",
	// If its expression returned nothing, the request could go to another table with the same name.
	narrows: true,
	search: 'searchApplications',
	id: { placeholder: 'e.g. crm', hint: "The application's internal name or ID" },
	url: `${PLATFORM}/apps/crm`,
	addresses: addresses('/apps/(<name>)/tables/<name>', '/apps/(<name>)'),
});

export const table = locator('table', {
	label: 'Table',
	required: true,
	description: 'The table to work on',
	aiHint: "Required, in the form of 'application', which it needs beside it.",
	typeOptions: { loadOptionsDependsOn: ['application.value'] },
	search: 'searchTables',
	id: { placeholder: 'e.g. contacts', hint: "The table's internal name or ID" },
	url: `${PLATFORM}/apps/crm/tables/contacts`,
	addresses: addresses('/apps/<name>/tables/(<name>)', '/tables/(<name>)'),
});

export const tableParameters = [application, table];

export type TableParameter = NameOf<typeof tableParameters>;

/** Hides what makes no sense without a table. */
export const UNTIL_TABLE_CHOSEN = { table: [''] };

/** The parameters that lists of fields depend on. */
export const TABLE_DEPENDENCIES = ['application.value', 'table.value'];

const EXPRESSION = '<a href="https://docs.n8n.io/code/expressions/">expression</a>';

/** n8n's standard text in the description of a loaded list. */
export const CHOOSE_ID = `Choose from the list, or specify an ID using an ${EXPRESSION}`;
const CHOOSE_IDS = `Choose from the list, or specify IDs using an ${EXPRESSION}`;

interface TableListLook extends Omit<Parameters<typeof text>[1], 'loads'> {
	/**
	 * The method that loads the list, and what it depends on besides the table: `&field` is the
	 * parameter in the same entry.
	 */
	list: string | [method: string, dependsOn: string];
	/** Stands before n8n's standard text, if the description is not all of its own. */
	about?: string;
}

const ofTable = ({ list, about, ...look }: TableListLook, choose: string) => {
	const [loadOptionsMethod, ...more] = [list].flat();
	const loadOptionsDependsOn = [...TABLE_DEPENDENCIES, ...more];
	const description = about ? `${about}. ${choose}.` : choose;
	return { description, ...look, loads: { loadOptionsMethod, loadOptionsDependsOn } };
};

/** One entry of a list that the editor loads for the table; '' if none is chosen. */
export const tableChoice = <Name extends string>(name: Name, look: TableListLook) =>
	text(name, ofTable(look, CHOOSE_ID));

/** Entries of a list that the editor loads for the table. */
export const tableChoices = <Name extends string>(name: Name, look: TableListLook) =>
	names(name, ofTable(look, CHOOSE_IDS));

/** A field of the table, as a part of a list entry. */
export const fieldPart = (list: string, look: Partial<TableListLook> = {}) =>
	tableChoice('field', { label: 'Field Name or ID', list, ...look });

const RECORD_ADDRESSES = addresses(
	'/apps/<name>/tables/<name>/data/(<name>)',
	'/tables/<name>/data/(<name>)',
	'/tables/<name>(?:/[^?#]*)?\\?recordId=(<name>)',
	'/data/(<name>)/?(?:[?#]|$)',
	'/data/(<name>)',
);

export const RECORD_ID_EXAMPLE = 'e.g. 5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2';

const RECORD: LocatorLook = {
	label: 'Record',
	required: true,
	description: 'The record to work on',
	aiHint: "Required: { __rl: true, mode: 'id', value: expr('{{ $json.id }}') }.",
	typeOptions: { loadOptionsDependsOn: TABLE_DEPENDENCIES },
	search: 'searchRecords',
	id: { placeholder: RECORD_ID_EXAMPLE },
	url: `${PLATFORM}/apps/crm/tables/contacts/data/5f0c9f0e…`,
	addresses: RECORD_ADDRESSES,
};

export const recordId = locator('recordId', {
	...RECORD,
	isExact: true,
	id: {
		displayName: 'By ID or Key',
		placeholder: RECORD_ID_EXAMPLE,
		hint: "The record's ID, or the value of its import key",
	},
});

/** Each item's record, for operations that can match in several ways. */
export const itemRecordId = locator('recordId', {
	...RECORD,
	preset: { mode: 'id', value: '={{ $json.id }}' },
	show: { matchOn: ['recordId'] },
	description: "Each item's record. By default, the one with the item's own ID.",
});

/** The chosen application; undefined if there is none. @throws {InputError} */
export const chosenApplication = (
	reader: ParameterReader<'application'>,
	index: number,
): string | undefined => application.of(reader, index) || undefined;

/** @throws {InputError} if no table is chosen */
export const addressOf = (
	reader: ParameterReader<TableParameter>,
	index: number,
): TableAddress => ({
	application: chosenApplication(reader, index),
	table: table.of(reader, index),
});

/** The table of an item. @throws {InputError} if none is chosen */
export const tableOf = (run: RunContext<TableParameter>, index: number): Table =>
	tableAt(run.client, addressOf(run, index));
