/** Runs a case through n8n's engine against a sandbox, and collects the results and the stored records. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { automatic, picked } from '../../support/engine/outsideJest.mts';
import { fileResponse, startStubServer } from '../../support/stubServer.mts';
import { parseResult, type ParsedResult } from '../matrix/parseResult.mts';
import { conditions } from '../matrix/scenarios/scenario.mts';
import { APP, TABLE } from './constants.mts';
import { SHORT_TIMEOUT_S } from './faults.mts';
import type { SandboxSlot, Truth } from './sandboxSlot.mts';
import { FILE_SERVER, type Case } from './schedule.mts';
import { KEY } from './table.mts';

export interface Evidence extends Truth {
	before: StoredRecord[];
	result: ParsedResult;
	/** What n8n shows next to the output. */
	hints: string[];
}

/** The value that Sync sets in records that are missing from its input. */
export const REMOVED_MARK = 'removed';

/** Long enough for a busy machine. */
const TIMEOUT_S = 30;

const RECORD = { __rl: true, mode: 'id', value: '={{ $json.id }}' };

const place = { application: picked(APP), table: picked(TABLE) };

/** The import key, if the table's definition does not mark it. */
const keyOption = ({ settings, isKeyed, wrongKey = KEY }: Case) =>
	isKeyed && settings.definition === 'documented' && { importKey: wrongKey };

function matchParameters({ matchOn, hasTwoMatchFields }: Case) {
	if (matchOn === 'recordId') return { matchOn, recordId: '={{ $json.id }}' };
	if (matchOn === 'importKey') return { matchOn };
	return { matchOn, matchFields: hasTwoMatchFields ? [KEY, 'group'] : [KEY] };
}

function syncParameters({ removal }: Case) {
	const { isDelete, despiteFailures, maximum } = removal;
	return {
		missingRecords: isDelete ? 'delete' : 'setFields',
		...(!isDelete && { fieldsToSet: { entry: [{ field: 'name', value: REMOVED_MARK }] } }),
		...conditions(['group', 'eq', 'b']),
		maxRecordsToRemove: maximum,
		maxShareToRemove: 100,
		removeDespiteFailures: despiteFailures,
	};
}

/** The parameters of an operation besides the table. */
function parametersOf(testCase: Case): INodeParameters {
	const { operation, isFull, matching, removal, options } = testCase;
	const { ifFound, ifMissing, multipleMatches } = matching;
	const updateMode = isFull ? 'replace' : 'partial';
	const columns = automatic as unknown as INodeParameters;
	const isById = testCase.matchOn === 'recordId';
	const field = Object.entries(testCase.fieldRules).map(([name, rule]) => ({ field: name, rule }));
	const ruled = { ...(field.length > 0 && { fieldRules: { field } }) };
	const rules = { ifFound, ifMissing, ...(!isById && { multipleMatches }), ...ruled };
	const group: [string, string, string] = ['group', 'eq', '={{ $json.group }}'];
	switch (operation) {
		case 'create':
			return { columns, options: { batchSize: options.batchSize, ...keyOption(testCase) } };
		case 'upsert':
			return { columns, ...matchParameters(testCase), options: { ...options, ...rules, ...keyOption(testCase) } };
		case 'update': {
			const { ifFound: _, ...updateRules } = rules as typeof matching;
			return { columns, ...matchParameters(testCase), updateMode, options: { ...options, ...updateRules, ...keyOption(testCase) } };
		}
		case 'delete':
			return { recordId: RECORD };
		case 'upload':
			return { target: 'existing', recordId: RECORD, fileField: 'papers', existingFiles: isFull ? 'replace' : 'append' };
		case 'remove':
			return { recordId: RECORD, fileField: 'papers', removeMode: 'all' };
		case 'sync':
			return {
				columns,
				...matchParameters(testCase),
				...syncParameters(testCase),
				options: { batchSize: options.batchSize, multipleMatches, ...ruled, ...keyOption(testCase) },
			};
		case 'deleteMany':
			return {
				maxRecordsToDelete: removal.maximum,
				...(removal.isOr ? { ...conditions(group, ['name', 'eq', 'nobody']), matchType: 'or' } : conditions(group)),
			};
	}
}

const resourceOf = (operation: Case['operation']) => (operation === 'upload' || operation === 'remove' ? 'attachment' : 'record');

let fileServer: Promise<string> | undefined;

/** A server with every file that an item names by its URL. */
const fileOrigin = () =>
	(fileServer ??= startStubServer(({ target }) => fileResponse('x', Buffer.from(`content of ${target.slice(1)}`), 'text/plain')).then(
		({ origin }) => origin,
	));

async function inputOf({ items }: Case): Promise<INodeExecutionData[]> {
	const origin = await fileOrigin();
	return items.map(({ data }) => ({ ...data, json: JSON.parse(JSON.stringify(data.json).replaceAll(FILE_SERVER, origin)) }));
}

export async function execute(slot: SandboxSlot, testCase: Case): Promise<Evidence> {
	const { settings, table, records, rules, onError, tries, otherWrite, operation } = testCase;
	const before = await slot.prepare({ ...settings, fileUrls: 'loopback' }, table, records, rules);
	const parameters = { resource: resourceOf(operation), operation, ...place, ...parametersOf(testCase) };
	const retry = tries > 1 ? { maxTries: tries } : undefined;
	const run = await slot.run(
		testCase.isHasty ? SHORT_TIMEOUT_S : TIMEOUT_S,
		{ parameters, input: await inputOf(testCase), onError, retry },
		otherWrite,
		testCase.canRead ? undefined : await slot.writeOnlyToken(),
	);
	const truth = await slot.truth();
	const result = await parseResult(run, testCase.items.length, onError);
	return { ...truth, before, result, hints: run.hints };
}
