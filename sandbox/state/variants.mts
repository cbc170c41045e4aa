/**
 * What nobody has stated about the platform, as settings: each reading can be played. The list is
 * the one of `x-variants` in contract/openapi.yaml; a test compares the two.
 */
import type { Settings } from './settings.mts';

export interface Reading {
	value: Settings[keyof Settings];
	/** What the platform does then, as the sandbox's page says it. */
	text: string;
}

export interface Variant {
	setting: keyof Settings;
	/** The question, as in the contract. */
	name: string;
	/** The first is the default. */
	readings: readonly [Reading, Reading, ...Reading[]];
}

const variant = (
	setting: keyof Settings,
	name: string,
	...readings: [
		[Reading['value'], string],
		[Reading['value'], string],
		...Array<[Reading['value'], string]>,
	]
): Variant => ({
	setting,
	name,
	readings: readings.map(([value, text]) => ({ value, text })) as unknown as Variant['readings'],
});

export const variants: readonly Variant[] = [
	variant(
		'dates',
		'Dates',
		['current', 'Dates are days; a time without a zone is in the application’s'],
		['older', 'Dates are read as midnight in UTC, and written as that; times are in UTC only'],
	),
	variant(
		'dateForms',
		'Forms of dates',
		['four', 'Only the four documented forms: no offsets, three decimals at most'],
		['iso', 'Any ISO 8601 text'],
	),
	variant(
		'definition',
		'Table definition',
		['full', 'With importKey, multiple, linkTableId and readOnly'],
		['documented', 'With the documented metadata only'],
	),
	variant(
		'shortAddress',
		'Address without an application',
		['served', 'Served'],
		['notFound', 'Not found'],
	),
	variant('createStatus', 'Response to a create', [201, '201 Created'], [200, '200 OK']),
	variant(
		'bulkRight',
		'Right for bulk requests',
		['write', 'The same as for single writes'],
		['import', 'The import right; without it, 403'],
	),
	variant(
		'bulkOrder',
		'Order of records in bulk responses',
		['request', 'As in the request'],
		['other', 'Another order'],
	),
	variant(
		'errorPosition',
		'Position of an error in a bulk response',
		['RecordIndex', 'RecordIndex'],
		['recordIndex', 'recordIndex'],
		['none', 'Missing'],
	),
	variant(
		'filterNames',
		'Unknown fields in filters and sorts',
		['validated', 'Rejected'],
		['ignored', 'Ignored'],
	),
	variant(
		'importKey',
		'Values of the import key',
		['notUnique', 'A plain create may repeat one'],
		['unique', 'Unique'],
	),
	variant(
		'rejections',
		'Unique columns, and workflows that reject changes',
		['none', 'None'],
		['byField', 'As the tables have them'],
	),
	variant(
		'links',
		'Values of links to one record',
		['nested', 'With the linked record’s fields in a part of their own'],
		['flat', 'With its fields beside its id'],
	),
	variant(
		'linkLists',
		'Values of links to several records',
		['withUrl', 'The count and a url'],
		['withoutUrl', 'The count without a url'],
	),
	variant(
		'newRecordModified',
		'Modified time of a new record',
		['created', 'The same as its created time'],
		['later', '1 ms to 1 s after its created time'],
	),
	variant(
		'lateValuesMs',
		'Calculated fields, number series and links of a written record',
		[0, 'Stored at once'],
		[300, 'Stored some time after the response; version and modified time move'],
	),
	variant('dailyQuota', 'Requests a day', [null, 'Unlimited'], [1000, 'Limited; then 429']),
	variant(
		'quotaRetryAfter',
		'Retry-After once the day’s requests are used up',
		['none', 'Missing'],
		['short', 'A minute'],
		['long', 'Seconds until the next day'],
		['date', 'The next day, as a date'],
	),
	variant('maxRecords', 'Records in an application', [null, 'Unlimited'], [1000, 'Limited']),
	variant('maxStorageBytes', 'Bytes of files', [null, 'Unlimited'], [1_000_000, 'Limited']),
	variant(
		'limitErrors',
		'Errors of a batch beyond such a limit',
		['perRecord', 'One for each record'],
		['wholeBatch', 'One for the whole batch'],
	),
	variant(
		'attachmentRules',
		'Pictures and files',
		['documented', 'One in a picture field, 50 MB a file, known formats of pictures'],
		['none', 'Several, of any size and format'],
	),
	variant(
		'fileSize',
		'Sizes of files',
		['number', 'Numbers'],
		['text', 'Text'],
		['absent', 'Missing'],
	),
	variant(
		'fileAddresses',
		'Addresses of files',
		['plain', 'Without a token'],
		['withToken', 'With a short token in their query'],
	),
	variant('emptyFields', 'Fields without a value', ['null', 'null'], ['absent', 'Absent']),
	variant(
		'typeNames',
		'Names of field types',
		['today', 'buttonform, freehtmlinput, calculated'],
		['older', 'button, freehtml, calculatedfield'],
	),
];
