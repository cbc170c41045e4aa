/**
 * Parameters for reading links: the records that are linked to one record, and what to read of
 * linked records.
 */
import { MAX_PAGE_SIZE } from '../../api/endpoints';
import { idKey } from '../../api/idSet';
import type { LinkedTo } from '../../api/pages';
import { learnLinks } from '../../api/learnLinks';
import { tableAt } from '../../api/table';
import type { DefinedTable, PlatformRecord } from '../../api/types';
import { LinkedRecords, MAX_LINK_REQUESTS, type Inclusion } from '../../api/linkedRecords';
import type { Entry, NameOf } from '../../parameterKinds/parameter';
import { choice, list, text, wholeNumber } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { holdsData } from '../../fields';
import { entriesByLink, isLink, linkedTable, linkField } from '../write/writingLinks';
import {
	chosenApplication,
	RECORD_ID_EXAMPLE,
	tableChoice,
	tableChoices,
	tableOf,
	type TableParameter,
} from './table';
import { LABELS } from '../../labels';

const CHOOSE = 'Choose it from the list, or correct the expression in it.';

const incomingLink = tableChoice('linkField', {
	label: 'Link Field Name or ID',
	list: 'getIncomingLinks',
	about: 'The link field of that table, such as deals.people',
});

const linkingRecord = text('recordId', {
	label: 'Record ID',
	placeholder: RECORD_ID_EXAMPLE,
	description: 'The ID of the record that has the link',
	aiHint: "An expression such as expr('{{ $json.id }}').",
});

/** Required, because all records would match if one of the two were missing. */
const [requiredLink, requiredRecord] = [
	incomingLink.with({ required: true }),
	linkingRecord.with({ required: true }),
];

export const linkedTo = list('linkedTo', {
	label: LABELS.linkedTo,
	add: 'Add Record',
	entry: ['record', 'Record'],
	isSingle: true,
	description: 'Only include the records that one record of another table links to',
	parts: [incomingLink, linkingRecord],
});

/**
 * The record whose linked records to read; undefined if none is set.
 *
 * @throws {InputError} if a part of it is empty, or does not name a link field
 * @throws {ServiceError} if the record's table can't be read
 */
export async function linkedToOf(
	run: RunContext<TableParameter | NameOf<typeof linkedTo>>,
	index: number,
): Promise<LinkedTo | undefined> {
	const [entry] = linkedTo.of(run, index);
	if (!entry) return undefined;
	const wrong = (message: string) => linkedTo.error(message, CHOOSE);
	const path = requiredLink.in(entry, linkedTo);
	const id = idKey(requiredRecord.in(entry, linkedTo));
	const [, table = '', field = ''] = /^([^.]+)\.(.+)$/.exec(path) ?? [];
	if (table === '') throw wrong(`'${path}' is no table and link field, such as deals.people`);
	const from = tableAt(run.client, { application: chosenApplication(run, index), table });
	const source = await from.definition();
	if (source.fields.some((link) => isLink(link) && link.name === field)) {
		return { id, tableId: source.id, field };
	}
	throw wrong(`Table '${source.header}' has no link field '${field}'`);
}

const include = choice('include', {
	label: 'Include',
	choices: {
		fields: ['Fields', 'IDs and fields that you choose'],
		recordIds: ['Record IDs', 'Only the IDs'],
	},
	preset: 'recordIds',
	description: 'What to return of each linked record',
});

const linkedFields = tableChoices('linkedFields', {
	label: 'Linked Field Names or IDs',
	list: ['getLinkedDataFields', '&field'],
	show: { include: ['fields'] },
	about: 'The fields of the linked table',
});

/** How many records to return. */
export const limitWith = (look: { max?: number; show?: Record<string, boolean[]> }) =>
	wholeNumber('limit', {
		label: 'Limit',
		min: 1,
		preset: 50,
		description: 'Max number of results to return',
		...look,
	});

const limit = limitWith({ max: MAX_PAGE_SIZE });

export const linkedRecords = list('linkedRecords', {
	label: 'Include Linked Records',
	add: 'Add Link Field',
	entry: ['link', 'Link Field'],
	description:
		'Return linked records in place of links. A link to several records takes a request for each record that has it.',
	parts: [linkField, include, linkedFields, limit],
});

/** @throws {InputError} if no field is chosen, or one is not in the linked table */
function fieldsOf(entry: Entry<NameOf<typeof linkedFields>>, { table }: DefinedTable): string[] {
	const chosen = linkedFields.in(entry, linkedRecords);
	const unknown = chosen.find(
		(name) => !table.fields.some((field) => field.name === name && holdsData(field)),
	);
	const wrong = (message: string) => linkedRecords.error(message, CHOOSE);
	if (chosen.length === 0) throw wrong(`No field of the linked table '${table.header}' is chosen`);
	if (unknown === undefined) return chosen;
	throw wrong(`The linked table '${table.header}' has no field '${unknown}'`);
}

type LinkedParameter = TableParameter | NameOf<typeof linkedRecords>;

/** What to read of a table's linked records. */
export async function inclusionsOf(
	run: RunContext<LinkedParameter>,
	index: number,
): Promise<Inclusion[]> {
	const entries = linkedRecords.of(run, index);
	if (entries.length === 0) return [];
	const linking = tableOf(run, index);
	const table = await linking.definition();
	const inclusions: Inclusion[] = [];
	for (const [field, entry] of entriesByLink(entries, table, linkedRecords)) {
		const takesFields = include.in(entry, linkedRecords) === 'fields';
		await learnLinks(linking, table.fields);
		// No record has a value.
		if (field.metadata.multiple === undefined) continue;
		const target = await linkedTable(linking, field);
		inclusions.push({
			field,
			tableId: table.id,
			target,
			names: takesFields ? fieldsOf(entry, target) : undefined,
			limit: limit.in(entry, linkedRecords),
		});
	}
	return inclusions;
}

/** Warns the user, once per run, that linked records were left out. */
export function warnAboutOmissions(run: RunContext<never>, linked: LinkedRecords) {
	if (linked.isCut) {
		run.hintOnce(
			`Some links have more linked records than ${limit} under ${linkedRecords}: only the first of each are in the output.`,
			'warning',
		);
	}
	if (linked.isUnread) {
		run.hintOnce(
			`Some linked records were not read, because that would take more than ${MAX_LINK_REQUESTS} requests. Their links are as the platform returned them.`,
			'warning',
		);
	}
}

/**
 * Replaces links with linked records, as the parameters say. Keeps what it read for the rest of the
 * run.
 *
 * @throws {InputError} if an entry can't be read
 * @throws {ServiceError} if a linked table can't be read
 */
export async function linkedReader(run: RunContext<LinkedParameter>, index: number) {
	const inclusions = await inclusionsOf(run, index);
	const linked = run.once('linked records', () => new LinkedRecords());
	return async (records: PlatformRecord[]): Promise<PlatformRecord[]> => {
		if (inclusions.length === 0) return records;
		const whole = await linked.include(records, inclusions);
		warnAboutOmissions(run, linked);
		return whole;
	};
}
