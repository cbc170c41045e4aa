/**
 * Labels of the editor that texts of all layers name, in quotes:
 *
 *     hint: `Choose one in '${LABELS.application}'.`
 *
 * The parameters show them. The operation adds the group of options that one is in.
 */
export const LABELS = {
	allowAll: 'Delete All Records',
	application: 'Application',
	batchSize: 'Batch Size',
	columnMapping: 'Column Mapping',
	dateFormat: 'Date Format',
	delimiter: 'Delimiter',
	dryRun: 'Dry Run',
	emptyValues: 'Empty Values',
	encoding: 'Encoding',
	fieldRules: 'Field Rules',
	filterMode: 'Filter',
	headerRow: 'Header Row',
	ifMissing: 'If Missing',
	importKey: 'Import Key Name or ID',
	linkedTo: 'Linked To',
	linkValues: 'Link Values',
	linkValueType: 'Link Values Are',
	mappingMode: 'Mapping Column Mode',
	matchFields: 'Match Field Names or IDs',
	matchOn: 'Match On',
	maxChanges: 'Max Changes (%)',
	maxDeletedShare: 'Max Share of Deletions (%)',
	maxDeletions: 'Max Deletions at Once',
	maxFileSizeMiB: 'Max File Size (MiB)',
	maxNewShare: 'Max New Records (%)',
	maxRecordsToDelete: 'Max Records to Delete',
	maxRecordsToRemove: 'Max Records to Remove',
	maxRetryWait: 'Max Wait (Seconds)',
	maxShareToRemove: 'Max Share to Remove (%)',
	multipleMatches: 'Multiple Matches',
	numberFormat: 'Number Format',
	rejectedRowsLimit: 'Rejected Rows Limit',
	skipExisting: 'Skip Existing',
	startFrom: 'Start From',
	stateField: 'State Field Name or ID',
	textFormats: 'Values and Formats',
	timeZone: 'Time Zone',
	triggerOn: 'Trigger On',
	twoWaySync: 'Two-Way Sync',
	unknownFields: 'Unknown Fields',
	updateMode: 'Fields Not Sent',
} as const;

/** A date in UTC for n8n's field of a date. What is typed there loses its Z; an expression does not. */
export const EXPRESSION_OF_DATE = "{{ '2026-11-21T00:00:00Z' }}";

/** What the mapper puts in brackets after the header of the import key. */
export const IMPORT_KEY_MARK = 'import key';
