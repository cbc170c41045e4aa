/**
 * Hints next to the node's output. The editor evaluates their conditions with the current values in
 * the panel.
 */
import type { NodeHint } from 'n8n-workflow';

import { IMPORT_KEY_MARK, LABELS } from '../labels';
import { filterMode } from './select/filter';
import { matchOn } from './write/matchRules';
import { importKey } from './write/writing';

const MATCHED_ON_IMPORT_KEY =
	'["sync", "update", "upsert"].includes($parameter["operation"]) && $parameter["matchOn"] === "importKey"';
const FIELDS = '$parameter["columns"]?.schema?.length > 0';
const KEY = `$parameter["columns"].schema.find((field) => field.displayName.endsWith("(${IMPORT_KEY_MARK})"))`;

const noImportKey: NodeHint = {
	message: `The table's definition does not say which field is its import key. Choose it under ${importKey} in the options, or another way under ${matchOn}.`,
	type: 'warning',
	displayCondition: `={{ ${MATCHED_ON_IMPORT_KEY} && ${FIELDS} && !${KEY} && !$parameter["options"]?.matching?.settings?.importKey }}`,
	whenToDisplay: 'always',
	location: 'ndv',
};

/** The editor does not mark an empty collection as required. */
const noConditions: NodeHint = {
	message: `Add a condition: without one, nothing is deleted. To delete every record of the table, set ${filterMode} to 'None' and turn on '${LABELS.allowAll}'.`,
	displayCondition:
		'={{ $parameter["resource"] === "record" && $parameter["operation"] === "deleteMany" && $parameter["filterMode"] === "conditions" && !($parameter["conditions"]?.condition?.length > 0) && !($parameter["groups"]?.group?.length > 0) }}',
	whenToDisplay: 'beforeExecution',
	location: 'outputPane',
};

export const nodeHints = [noConditions, noImportKey];
