/**
 * The words of hints: what the user can do, with the editor's labels, which lower layers don't
 * know.
 */
import type { Parameter, ShownParameters } from '../parameterKinds/parameter';
import type { Hint, QueryPart, TokenPurpose } from '../transport/errors';
import { nameList } from '../transport/text';
import { maxDeletedShare, triggerOn } from './changes/changes';
import { allowAll, maxRecordsToDelete } from './select/deleting';
import { maxFileSizeMiB, skipExisting } from './files/uploads';
import { filterMode } from './select/filter';
import { linkedTo } from './select/linkedRecords';
import { linkValues } from './write/links';
import { ifMissing, matchFields, matchOn, multipleMatches } from './write/matching';
import { fieldsToLoad, savedView, sort } from './select/reading';
import { maxRetryWait } from './requests';
import { columnMapping, encoding, mappingMode } from './files/rowFiles';
import { maxRecordsToRemove, maxShareToRemove } from './write/sync';
import { application } from './select/table';
import { emptyValues, unknownFields } from './write/columns';
import { batchSize, importKey, updateMode } from './write/writing';

const TOKEN_TYPES: Record<string, string> = {
	role: 'API Token With Role',
	jwt: 'Standard JWT Token',
	short: 'Short API Token',
	workflow: 'Workflow Execution Token',
};

const PURPOSES: Record<TokenPurpose, string> = {
	data: 'Reading and writing data',
	attachments: 'Uploading and changing attachments',
	workflows: 'Starting workflows',
};

/** What a filter can be combined with. */
const BESIDES = { savedView: 'the saved view', linkedTo: String(linkedTo) };

const QUERY_PARTS: Record<QueryPart, Parameter<string, unknown>> = {
	filter: filterMode,
	sort,
	savedView,
	linkedTo,
	fields: fieldsToLoad,
};

const CHECK_TOKEN =
	"Check 'Token' in the credential for slips, or create a new token in the platform.";

/** The platform's documentation names both. */
const OTHER_WEBHOOK_TOKEN =
	'A webhook takes a workflow execution token or a personal API token: try the other one.';

/** How many of a table's fields a hint lists. */
const FIELDS_SHOWN = 40;

const fieldList = (fields: string[]) =>
	`The table's fields are: ${nameList(fields, FIELDS_SHOWN)}.`;

type HintOf<C> = Extract<Hint, { code: C }>;
type HintCode = Exclude<Hint, string>['code'];

const TEXTS: { [C in HintCode]: string | ((hint: HintOf<C>) => string) } = {
	allowWebhookOrigin: ({ origin }) =>
		`If this address belongs to your platform, add ${origin} to 'Webhook Origins' in the credential, under 'More Settings'.`,
	giveFilterValue:
		"If it is an expression, it returned nothing for this item. Give it a value; to find empty fields use the operator 'Is Empty' (empty).",
	useAndConditions: ({ besides }) =>
		`Leave ${BESIDES[besides]} out, or use conditions that must all hold.`,
	useOtherValues: ({ besides }) =>
		`Leave ${BESIDES[besides]} out, or compare with a part of the value, such as with 'Starts With' (startswith).`,
	shortenFilter: ({ besides }) => `Leave ${BESIDES[besides]} out, or use fewer or shorter values.`,
	correctQuery: ({ parts }) =>
		`Check ${parts.map((part) => QUERY_PARTS[part]).join(', ')}: ${parts.includes('filter') ? 'a value may not fit its field, or ' : ''}what is named there may have been renamed or deleted.`,
	chooseApplication: `Choose one in ${application}.`,
	chooseMarkedImportKey: `The platform finds records by the field that the table marks. Leave ${importKey} empty in the options, or mark the other field in the platform.`,
	chooseAmongMatches: `Match on more fields, correct the records, or choose another way under ${multipleMatches} in the options.`,
	correctImportKey: `Correct ${importKey} in the options, or leave it empty.`,
	correctMatchFields: `Choose one or several fields under ${matchFields}: text, choices, numbers, dates or times that the table lets you write.`,
	createIfMissing: `Check the value. ${ifMissing} in the options says what to do with items that have no record.`,
	keepFieldsNotSent: `Give the fields values, or set ${updateMode} to 'Leave as They Are'. To clear fields, map them and set ${emptyValues} to 'Clear the Field'.`,
	markImportKey: `Choose 'Other Fields' under ${matchOn} and the fields that identify a record, or mark a field as import key in the platform.`,
	lookBeforeAddingAgain:
		'Look at the record before you run it again: files and messages that it already has would be added again.',
	lookBeforeCreatingAgain:
		"Look for the record in the platform before you send it again. By import key, 'Create or Update' can be repeated without creating duplicates.",
	updateInstead: "Use 'Create or Update' to update it.",
	correctKeyOrUpdate: ({ field }) =>
		`Correct the value of '${field}'. If a record already has it, use 'Create or Update' to update that record.`,
	giveLinkedRecords: ({ field }) =>
		`'${field}' takes the ID of a linked record. To give a name or another value instead, add ${linkValues} in the options.`,
	giveRecordIds: `Give the record's ID, or set ${matchOn} to what the items hold, such as 'Import Key'.`,
	checkRecordId: `Check the ID; the record may have been deleted. If it is another value, such as an e-mail address, set ${matchOn} to 'Import Key' or 'Other Fields'.`,
	filterOrDeleteAll: `Add a condition. To delete every record of the table, set ${filterMode} to 'None' and turn on ${allowAll}.`,
	narrowFilterOrRaiseMaximum: `Narrow the filter, or raise ${maxRecordsToDelete} to delete all of them.`,
	completeInputOrRaiseMaximum: `Check that the input is complete and that the filter is right. If this is intended, raise ${maxRecordsToRemove}.`,
	completeInputOrRaiseShare: `Check that the input is complete and that the filter is right. If this is intended, raise ${maxShareToRemove}.`,
	skipExistingFiles: `Look at the record before you run it again; with ${skipExisting} on, files that are already there are not sent again.`,
	raiseMaximumSize: `Nothing was sent. Raise ${maxFileSizeMiB} in the options if this is intended.`,
	raiseRetryBudget: `Raise ${maxRetryWait} in the options, or send fewer records in one execution.`,
	trustCertificate:
		"Nothing was sent. Check the address, and have the certificate fixed. If you know that it is the platform, such as one with a self-signed certificate, turn on 'Ignore SSL Issues' in the credential, under 'More Settings'.",
	checkBaseUrl: "Check the 'Base URL' in the credential and that the platform is up.",
	sendSmallerRequests: `Lower ${batchSize} or send less in one record.`,
	limitRequestRate:
		"Set 'Requests per Minute' in the credential, under 'More Settings', to what the platform allows.",
	checkToken: CHECK_TOKEN,
	checkWebhookToken: `${CHECK_TOKEN} ${OTHER_WEBHOOK_TOKEN}`,
	tryOtherWebhookToken: OTHER_WEBHOOK_TOKEN,
	chooseEncoding: `Choose the file's encoding under ${encoding} in the options. Files from spreadsheets on Windows are often Windows-1252.`,
	chooseHeaderFile: `Use a CSV file whose first row names the columns. If it is UTF-16 without a byte order mark, choose that under ${encoding} in the options.`,
	raiseDeletedShare: `Check the table, and what the token may read. If they were deleted, raise ${maxDeletedShare} in the options.`,
	correctFieldName: ({ fields }) =>
		`${fieldList(fields)} Correct the name, or set ${unknownFields} in the options to 'Ignore'.`,
	fitColumns: ({ columns, fields }) =>
		`Rename the column, choose 'Map Each Column Manually' under ${mappingMode}, or set ${unknownFields} in the options to 'Ignore'. ${columns}${fields ? ` ${fieldList(fields)}` : ''}`,
	renameUnclearColumn: ({ name }) =>
		`Rename it to '${name}' if it is the field; else remove it, or set ${unknownFields} in the options to 'Ignore'.`,
	mapColumn: `Choose it under ${columnMapping}.`,
	useWebhookTrigger: `Use the Data Platform Webhook Trigger, which a workflow of the platform calls when a record is deleted, or choose another event under ${triggerOn}.`,
	replaceExpiredToken: ({ expires }) =>
		`The token expired on ${expires.slice(0, 16).replace('T', ' ')} UTC. Create a new token in the platform and enter it in the credential.`,
	useTokenOfType: ({ purpose, types, type }) =>
		`${PURPOSES[purpose]} takes a token of the type ${types.map((name) => `'${TOKEN_TYPES[name]}'`).join(' or ')}; the credential has a '${TOKEN_TYPES[type] ?? type}'.`,
};

/** A hint that names options as the operation lists them: an option in a group with its group. */
export function withGroups(hint: string, shown: ShownParameters): string {
	let text = hint;
	for (const { group, property } of shown.values()) {
		if (group === undefined) continue;
		const label = property.displayName;
		text = text.replaceAll(`'${label}'`, `'${group} → ${label}'`);
	}
	return text;
}

/** A hint as the user reads it. */
export function hintText(hint: Hint): string;
export function hintText(hint: Hint | undefined): string | undefined;
export function hintText(hint: Hint | undefined): string | undefined {
	if (hint === undefined || typeof hint === 'string') return hint;
	const text = TEXTS[hint.code] as string | ((hint: Hint) => string);
	return typeof text === 'string' ? text : text(hint);
}
