/**
 * Requests that users make to n8n's AI, and the nodes that it should build for them. Each runs with
 * the sandbox's sample data.
 */
import assert from 'node:assert/strict';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { RunningSandbox } from '../../../harness/sandboxProcess.mts';
import { byId, inTable } from '../../support/linearWorkflow.mts';
import type { RunResult } from '../../support/engine/outsideJest.mts';

export interface Request {
	/** The request in the user's words. */
	words: string;
	parameters: INodeParameters;
	/** The items that reach the node; one empty item by default. */
	items?: IDataObject[] | ((sandbox: RunningSandbox) => Promise<IDataObject[]>);
	/** The files of the items. */
	binary?: INodeExecutionData['binary'];
	/** Whether failed items leave by the error output. */
	errorOutput?: boolean;
	check(result: RunResult, sandbox: RunningSandbox): Promise<void> | void;
}

/** Our node's name in the workflows. */
export const STEP = 'Step';

const record = (operation: string, table: string, more: INodeParameters): INodeParameters => {
	return { resource: 'record', operation, ...inTable('crm', table), ...more };
};

const mapped = (value: INodeParameters) => ({ mappingMode: 'defineBelow', value });
const automatic = { mappingMode: 'autoMapInputData', value: null };

const conditions = (...condition: INodeParameters[]): INodeParameters => ({
	filterMode: 'conditions',
	matchType: 'and',
	conditions: { condition },
});

const outcomes = (result: RunResult) => result.json(STEP).map(({ outcome }) => outcome);

/** The fields of the records in a table of which this holds. */
const find = async ({ admin }: RunningSandbox, table: string, isMatch: (fields: IDataObject) => boolean = () => true) =>
	(await admin.records('crm', table)).map(({ id, fields }) => ({ id, ...fields }) as IDataObject).filter(isMatch);

const ITS_ID = byId('={{ $json.id }}');

/** One contact; as an item, its ID is read. */
const ann = async (sandbox: RunningSandbox) => await find(sandbox, 'contacts', ({ email }) => email === 'ann.fox@example.com');

const CSV = 'email,firstname,surname\nann.fox@example.com,Anne,Fox\nzoe@example.com,Zoe,Zed\n';

const request = (words: string, parameters: INodeParameters, check: Request['check'], more: Partial<Request> = {}): Request => {
	return { words, parameters, check, ...more };
};

const ADULTS = conditions({ field: 'age', operator: 'gte', value: '18' });
const READERS = conditions({ field: 'newsletter', operator: 'is', choice: 'true' });
const surnamed = (value: string) => ({ field: 'surname', operator: 'eq', value });

export const requests: Request[] = [
	request(
		'Get all contacts who are 18 or older, sorted by surname',
		record('getAll', 'contacts', { ...ADULTS, sort: { by: [{ field: 'surname', direction: 'asc' }] }, returnAll: true }),
		(result) => {
			const found = result.json(STEP);
			assert.ok(found.length > 0 && found.every(({ age }) => Number(age) >= 18));
			const surnames = found.map(({ surname }) => String(surname));
			assert.deepEqual(surnames, surnames.toSorted());
		},
	),
	request(
		'Get the contacts called Fox or Owl who want the newsletter',
		record('getAll', 'contacts', {
			...READERS,
			groups: { group: [{ matchType: 'or', conditions: { condition: [surnamed('Fox'), surnamed('Owl')] } }] },
			returnAll: true,
		}),
		async (result, sandbox) => {
			const isMeant = ({ newsletter, surname }: IDataObject) => newsletter === true && /^(Fox|Owl)$/.test(String(surname));
			const stored = await find(sandbox, 'contacts', isMeant);
			assert.ok(stored.length > 0);
			assert.equal(result.json(STEP).length, stored.length);
		},
	),
	request(
		'Show me the first five open or won deals',
		record('getAll', 'deals', { ...conditions({ field: 'stage', operator: 'isOneOf', choices: ['open', 'won'] }), limit: 5 }),
		(result) => {
			assert.equal(result.json(STEP).length, 5);
			assert.ok(result.json(STEP).every(({ stage }) => stage !== 'lost'));
		},
	),
	request(
		'Find deals with a JSON filter: won, and no due date',
		record('getAll', 'deals', {
			filterMode: 'json',
			filterTree:
				'{"filterOperator": "and", "filter": [{"field": "stage", "operator": "eq", "value": "won"}, {"field": "due", "operator": "empty"}]}',
			returnAll: true,
		}),
		(result) => {
			assert.ok(result.json(STEP).length > 0);
			assert.ok(result.json(STEP).every(({ stage }) => stage === 'won'));
		},
	),
	request(
		'Look up the contact with the ID that comes in',
		record('get', 'contacts', { recordId: ITS_ID }),
		(result) => assert.equal(result.json(STEP)[0]?.email, 'ann.fox@example.com'),
		{ items: ann },
	),
	request(
		'Create a contact from the form: name and email',
		record('create', 'contacts', { columns: mapped({ firstname: '={{ $json.name }}', surname: 'Form', email: '={{ $json.mail }}' }) }),
		async (_, sandbox) => {
			const [kim] = await find(sandbox, 'contacts', ({ email }) => email === 'kim@example.com');
			assert.equal(kim?.firstname, 'Kim');
		},
		{ items: [{ name: 'Kim', mail: 'kim@example.com' }] },
	),
	request(
		'Create contacts from all rows; rows that fail go to another branch',
		record('create', 'contacts', { columns: automatic }),
		async (result, sandbox) => {
			assert.deepEqual(outcomes(result), ['inserted', 'inserted']);
			assert.match(String(result.json(STEP, 1)[0]?.error), /age/i);
			assert.equal((await find(sandbox, 'contacts', ({ surname }) => surname === 'Row')).length, 2);
		},
		{
			items: [
				{ firstname: 'Lea', surname: 'Row', email: 'lea@example.com', age: 30 },
				{ firstname: 'Max', surname: 'Row', email: 'max@example.com', age: 'unknown' },
				{ firstname: 'Mia', surname: 'Row', email: 'mia@example.com', age: 31 },
			],
			errorOutput: true,
		},
	),
	request(
		'Sync the CRM contacts into the table: update by email, create what is missing',
		record('upsert', 'contacts', { matchOn: 'importKey', columns: automatic }),
		(result) => assert.deepEqual(outcomes(result), ['updated', 'inserted']),
		{
			items: [
				{ email: 'ann.fox@example.com', firstname: 'Anna', surname: 'Fox' },
				{ email: 'new@example.com', firstname: 'New', surname: 'Person' },
			],
		},
	),
	request(
		'Get the company with this name, or create it; never change one that is there',
		record('upsert', 'companies', {
			matchOn: 'importKey',
			columns: mapped({ name: '={{ $json.company }}', city: 'Unknown' }),
			options: { matching: { settings: { ifFound: 'skip' } } },
		}),
		async (result, sandbox) => {
			assert.deepEqual(outcomes(result), ['found', 'inserted']);
			const [acorn] = await find(sandbox, 'companies', ({ name }) => name === 'Acorn Sample Ltd');
			assert.equal(acorn?.city, 'Berlin');
		},
		{ items: [{ company: 'Acorn Sample Ltd' }, { company: 'Fir Ltd' }] },
	),
	request(
		'Update the stage of deals by their number; do not create any',
		record('update', 'deals', {
			matchOn: 'fields',
			matchFields: ['number'],
			columns: mapped({ number: '={{ $json.number }}', stage: '={{ $json.stage }}' }),
		}),
		async (result, sandbox) => {
			assert.deepEqual(outcomes(result), ['updated', 'updated']);
			const [deal] = await find(sandbox, 'deals', ({ number }) => number === 'D-002');
			assert.equal(deal?.stage, 'won');
		},
		{
			items: [
				{ number: 'D-002', stage: 'won' },
				{ number: 'D-003', stage: 'lost' },
			],
		},
	),
	request(
		'Unsubscribe this contact from the newsletter',
		record('update', 'contacts', { recordId: ITS_ID, columns: mapped({ newsletter: false }) }),
		async (_, sandbox) => assert.equal((await ann(sandbox))[0]?.newsletter, false),
		{ items: ann },
	),
	request(
		'Delete the contact with this ID',
		record('delete', 'contacts', { recordId: ITS_ID }),
		async (_, sandbox) => assert.deepEqual(await ann(sandbox), []),
		{ items: ann },
	),
	request(
		'Delete the lost deals, but nothing if there are more than ten',
		record('deleteMany', 'deals', { ...conditions({ field: 'stage', operator: 'is', choice: 'lost' }), maxRecordsToDelete: 10 }),
		async (_, sandbox) => {
			assert.equal((await find(sandbox, 'deals', ({ stage }) => stage === 'lost')).length, 0);
			assert.ok((await find(sandbox, 'deals')).length > 0);
		},
	),
	request(
		'Mirror the list: contacts named Fox who are not in it lose the newsletter, half of them at most',
		record('sync', 'contacts', {
			matchOn: 'importKey',
			columns: automatic,
			missingRecords: 'setFields',
			fieldsToSet: { entry: [{ field: 'newsletter', value: 'false' }] },
			...conditions(surnamed('Fox')),
			maxRecordsToRemove: 10,
			maxShareToRemove: 50,
		}),
		async (_, sandbox) => {
			const gone = await find(sandbox, 'contacts', ({ email }) => /^(ida|jon)\.fox@/.test(String(email)));
			assert.deepEqual(
				gone.map(({ newsletter }) => newsletter),
				[false, false],
			);
		},
		{
			items: ['Ann', 'Bob', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gita', 'Hugo'].map((firstname) => {
				return { firstname, surname: 'Fox', email: `${firstname.toLowerCase()}.fox@example.com` };
			}),
		},
	),
	request('How many contacts want the newsletter?', record('count', 'contacts', READERS), async (result, sandbox) => {
		const stored = await find(sandbox, 'contacts', ({ newsletter }) => newsletter === true);
		assert.equal(result.json(STEP)[0]?.count, stored.length);
	}),
	request(
		'Total and average fee of the won deals',
		record('summarize', 'deals', {
			summaries: { summary: [{ field: 'fee', aggregations: ['sum', 'avg'] }] },
			...conditions({ field: 'stage', operator: 'is', choice: 'won' }),
		}),
		async (result, sandbox) => {
			const won = await find(sandbox, 'deals', ({ stage }) => stage === 'won');
			const sum = won.reduce((total, { fee }) => total + Number(fee), 0);
			assert.deepEqual(result.json(STEP)[0]?.fields, { fee: { sum, avg: sum / won.length } });
		},
	),
	request(
		'Every night, fetch what changed in the deals since last time',
		record('getChanges', 'deals', { cursor: '={{ $json.cursor }}', startFrom: 'beginning', pageSize: 100 }),
		(result) => assert.match(JSON.stringify(result.json(STEP)), /"cursor"/),
		{ items: [{ cursor: '' }] },
	),
	request('Export the contacts to a CSV file', record('exportToFile', 'contacts', { filterMode: 'none', outputField: 'data' }), (result) =>
		assert.match(String(result.output(STEP)[0]?.binary?.data?.mimeType), /csv/),
	),
	request(
		'Import the CSV file; update contacts that exist by email',
		record('importFromFile', 'contacts', {
			inputDataFieldName: 'data',
			importMode: 'upsert',
			matchOn: 'importKey',
			mappingMode: 'autoMapInputData',
		}),
		async (_, sandbox) => {
			const written = await find(sandbox, 'contacts', ({ firstname }) => /^(Anne|Zoe)$/.test(String(firstname)));
			assert.equal(written.length, 2);
		},
		{ binary: { data: { data: Buffer.from(CSV).toString('base64'), mimeType: 'text/csv', fileName: 'contacts.csv' } } },
	),
	request('Which fields does the contacts table have?', { resource: 'table', operation: 'get', ...inTable('crm', 'contacts') }, (result) =>
		assert.match(JSON.stringify(result.json(STEP)), /newsletter/),
	),
];

/** Starts the workflow; polled once before the contact is created and once after it. */
export const triggerRequest = {
	words: 'When a contact of 18 or older is created, start',
	parameters: { triggerOn: 'created', ...inTable('crm', 'contacts'), ...ADULTS, startFrom: 'now' } satisfies INodeParameters,
};
