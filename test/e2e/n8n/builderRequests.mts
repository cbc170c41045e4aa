/**
 * Requests that users make to n8n's AI, and the nodes that it should build for them. Each runs with
 * the sandbox's sample data.
 */
import assert from 'node:assert/strict';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { RunningSandbox } from '../../../harness/sandboxProcess.mts';
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

const located = (value: string) => ({ __rl: true, mode: 'id', value });

const record = (operation: string, table: string, more: INodeParameters): INodeParameters => ({
	resource: 'record',
	operation,
	application: located('crm'),
	table: located(table),
	...more,
});

const mapped = (value: INodeParameters) => ({ mappingMode: 'defineBelow', value });
const automatic = { mappingMode: 'autoMapInputData', value: null };

const conditions = (...condition: INodeParameters[]): INodeParameters => ({
	filterMode: 'conditions',
	matchType: 'and',
	conditions: { condition },
});

const count = (result: RunResult) => result.json(STEP).length;

const outcomes = (result: RunResult) => result.json(STEP).map(({ outcome }) => outcome);

const find = async ({ admin }: RunningSandbox, table: string, isMatch: (fields: IDataObject) => boolean) =>
	(await admin.records('crm', table)).filter(({ fields }) => isMatch(fields as IDataObject));

const ITS_ID = '={{ $json.id }}';

const isAnn = ({ email }: IDataObject) => email === 'ann.fox@example.com';

/** An item with the ID of one contact. */
const ann = async (sandbox: RunningSandbox) => (await find(sandbox, 'contacts', isAnn)).map(({ id }) => ({ id }));

const csv = (text: string): INodeExecutionData['binary'] => ({
	data: { data: Buffer.from(text).toString('base64'), mimeType: 'text/csv', fileName: 'contacts.csv' },
});

export const requests: Request[] = [
	{
		words: 'Get all contacts who are 18 or older, sorted by surname',
		parameters: record('getAll', 'contacts', {
			...conditions({ field: 'age', operator: 'gte', value: '18' }),
			sort: { by: [{ field: 'surname', direction: 'asc' }] },
			returnAll: true,
		}),
		check(result) {
			const found = result.json(STEP);
			assert.ok(found.length > 0 && found.every(({ age }) => Number(age) >= 18));
			const surnames = found.map(({ surname }) => String(surname));
			assert.deepEqual(surnames, surnames.toSorted());
		},
	},
	{
		words: 'Get the contacts called Fox or Owl who want the newsletter',
		parameters: record('getAll', 'contacts', {
			...conditions({ field: 'newsletter', operator: 'is', choice: 'true' }),
			groups: {
				group: [
					{
						matchType: 'or',
						conditions: {
							condition: [
								{ field: 'surname', operator: 'eq', value: 'Fox' },
								{ field: 'surname', operator: 'eq', value: 'Owl' },
							],
						},
					},
				],
			},
			returnAll: true,
		}),
		async check(result, sandbox) {
			const stored = await find(
				sandbox,
				'contacts',
				({ newsletter, surname }) => newsletter === true && /^(Fox|Owl)$/.test(String(surname)),
			);
			assert.ok(stored.length > 0);
			assert.equal(count(result), stored.length);
		},
	},
	{
		words: 'Show me the first five open or won deals',
		parameters: record('getAll', 'deals', { ...conditions({ field: 'stage', operator: 'isOneOf', choices: ['open', 'won'] }), limit: 5 }),
		check(result) {
			assert.equal(count(result), 5);
			assert.ok(result.json(STEP).every(({ stage }) => stage !== 'lost'));
		},
	},
	{
		words: 'Find deals with a JSON filter: won, and no due date',
		parameters: record('getAll', 'deals', {
			filterMode: 'json',
			filterTree: JSON.stringify({
				filterOperator: 'and',
				filter: [
					{ field: 'stage', operator: 'eq', value: 'won' },
					{ field: 'due', operator: 'empty' },
				],
			}),
			returnAll: true,
		}),
		check(result) {
			assert.ok(count(result) > 0);
			assert.ok(result.json(STEP).every(({ stage }) => stage === 'won'));
		},
	},
	{
		words: 'Look up the contact with the ID that comes in',
		parameters: record('get', 'contacts', { recordId: located(ITS_ID) }),
		items: ann,
		check: (result) => assert.equal(result.json(STEP)[0]?.email, 'ann.fox@example.com'),
	},
	{
		words: 'Create a contact from the form: name and email',
		parameters: record('create', 'contacts', {
			columns: mapped({ firstname: '={{ $json.name }}', surname: 'Form', email: '={{ $json.mail }}' }),
		}),
		items: [{ name: 'Kim', mail: 'kim@example.com' }],
		async check(_, sandbox) {
			const [kim] = await find(sandbox, 'contacts', ({ email }) => email === 'kim@example.com');
			assert.equal(kim?.fields.firstname, 'Kim');
		},
	},
	{
		words: 'Create contacts from all rows; rows that fail go to another branch',
		parameters: record('create', 'contacts', { columns: automatic }),
		items: [
			{ firstname: 'Lea', surname: 'Row', email: 'lea@example.com', age: 30 },
			{ firstname: 'Max', surname: 'Row', email: 'max@example.com', age: 'unknown' },
			{ firstname: 'Mia', surname: 'Row', email: 'mia@example.com', age: 31 },
		],
		errorOutput: true,
		async check(result, sandbox) {
			assert.deepEqual(outcomes(result), ['inserted', 'inserted']);
			assert.match(String(result.json(STEP, 1)[0]?.error), /age/i);
			assert.equal((await find(sandbox, 'contacts', ({ surname }) => surname === 'Row')).length, 2);
		},
	},
	{
		words: 'Sync the CRM contacts into the table: update by email, create what is missing',
		parameters: record('upsert', 'contacts', { matchOn: 'importKey', columns: automatic }),
		items: [
			{ email: 'ann.fox@example.com', firstname: 'Anna', surname: 'Fox' },
			{ email: 'new@example.com', firstname: 'New', surname: 'Person' },
		],
		check: (result) => assert.deepEqual(outcomes(result), ['updated', 'inserted']),
	},
	{
		words: 'Get the company with this name, or create it; never change one that is there',
		parameters: record('upsert', 'companies', {
			matchOn: 'importKey',
			columns: mapped({ name: '={{ $json.company }}', city: 'Unknown' }),
			options: { matching: { settings: { ifFound: 'skip' } } },
		}),
		items: [{ company: 'Acorn Sample Ltd' }, { company: 'Fir Ltd' }],
		async check(result, sandbox) {
			assert.deepEqual(outcomes(result), ['found', 'inserted']);
			const [acorn] = await find(sandbox, 'companies', ({ name }) => name === 'Acorn Sample Ltd');
			assert.equal(acorn?.fields.city, 'Berlin');
		},
	},
	{
		words: 'Update the stage of deals by their number; do not create any',
		parameters: record('update', 'deals', {
			matchOn: 'fields',
			matchFields: ['number'],
			columns: mapped({ number: '={{ $json.number }}', stage: '={{ $json.stage }}' }),
		}),
		items: [
			{ number: 'D-002', stage: 'won' },
			{ number: 'D-003', stage: 'lost' },
		],
		async check(result, sandbox) {
			assert.deepEqual(outcomes(result), ['updated', 'updated']);
			const [deal] = await find(sandbox, 'deals', ({ number }) => number === 'D-002');
			assert.equal(deal?.fields.stage, 'won');
		},
	},
	{
		words: 'Unsubscribe this contact from the newsletter',
		parameters: record('update', 'contacts', { recordId: located(ITS_ID), columns: mapped({ newsletter: false }) }),
		items: ann,
		async check(_, sandbox) {
			const [stored] = await find(sandbox, 'contacts', isAnn);
			assert.equal(stored?.fields.newsletter, false);
		},
	},
	{
		words: 'Delete the contact with this ID',
		parameters: record('delete', 'contacts', { recordId: located(ITS_ID) }),
		items: ann,
		async check(_, sandbox) {
			assert.deepEqual(await ann(sandbox), []);
		},
	},
	{
		words: 'Delete the lost deals, but nothing if there are more than ten',
		parameters: record('deleteMany', 'deals', {
			...conditions({ field: 'stage', operator: 'is', choice: 'lost' }),
			maxRecordsToDelete: 10,
		}),
		async check(_, sandbox) {
			assert.equal((await find(sandbox, 'deals', ({ stage }) => stage === 'lost')).length, 0);
			assert.ok((await find(sandbox, 'deals', () => true)).length > 0);
		},
	},
	{
		words: 'Mirror the list: contacts named Fox who are not in it lose the newsletter, half of them at most',
		parameters: record('sync', 'contacts', {
			matchOn: 'importKey',
			columns: automatic,
			missingRecords: 'setFields',
			fieldsToSet: { entry: [{ field: 'newsletter', value: 'false' }] },
			...conditions({ field: 'surname', operator: 'eq', value: 'Fox' }),
			maxRecordsToRemove: 10,
			maxShareToRemove: 50,
		}),
		items: ['Ann', 'Bob', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gita', 'Hugo'].map((firstname) => ({
			firstname,
			surname: 'Fox',
			email: `${firstname.toLowerCase()}.fox@example.com`,
		})),
		async check(result, sandbox) {
			assert.equal(result.error, undefined);
			const gone = await find(sandbox, 'contacts', ({ email }) => /^(ida|jon)\.fox@/.test(String(email)));
			assert.deepEqual(
				gone.map(({ fields }) => fields.newsletter),
				[false, false],
			);
		},
	},
	{
		words: 'How many contacts want the newsletter?',
		parameters: record('count', 'contacts', conditions({ field: 'newsletter', operator: 'is', choice: 'true' })),
		async check(result, sandbox) {
			const stored = await find(sandbox, 'contacts', ({ newsletter }) => newsletter === true);
			assert.equal(result.json(STEP)[0]?.count, stored.length);
		},
	},
	{
		words: 'Total and average fee of the won deals',
		parameters: record('summarize', 'deals', {
			summaries: { summary: [{ field: 'fee', aggregations: ['sum', 'avg'] }] },
			...conditions({ field: 'stage', operator: 'is', choice: 'won' }),
		}),
		async check(result, sandbox) {
			const won = await find(sandbox, 'deals', ({ stage }) => stage === 'won');
			const sum = won.reduce((total, { fields }) => total + Number(fields.fee), 0);
			assert.deepEqual(result.json(STEP)[0]?.fee, { sum, avg: sum / won.length });
		},
	},
	{
		words: 'Every night, fetch what changed in the deals since last time',
		parameters: record('getChanges', 'deals', { cursor: '={{ $json.cursor }}', startFrom: 'beginning', pageSize: 100 }),
		items: [{ cursor: '' }],
		check: (result) => assert.match(JSON.stringify(result.json(STEP)), /"cursor"/),
	},
	{
		words: 'Export the contacts to a CSV file',
		parameters: record('exportToFile', 'contacts', { filterMode: 'none', outputField: 'data' }),
		check: (result) => assert.match(String(result.output(STEP)[0]?.binary?.data?.mimeType), /csv/),
	},
	{
		words: 'Import the CSV file; update contacts that exist by email',
		parameters: record('importFromFile', 'contacts', {
			inputDataFieldName: 'data',
			importMode: 'upsert',
			matchOn: 'importKey',
			mappingMode: 'autoMapInputData',
		}),
		binary: csv('email,firstname,surname\nann.fox@example.com,Anne,Fox\nzoe@example.com,Zoe,Zed\n'),
		async check(result, sandbox) {
			assert.equal(result.error, undefined);
			const written = await find(sandbox, 'contacts', ({ firstname }) => /^(Anne|Zoe)$/.test(String(firstname)));
			assert.equal(written.length, 2);
		},
	},
	{
		words: 'Which fields does the contacts table have?',
		parameters: { resource: 'table', operation: 'get', application: located('crm'), table: located('contacts') },
		check: (result) => assert.match(JSON.stringify(result.json(STEP)), /newsletter/),
	},
];

/** Starts the workflow; polled once before the contact is created and once after it. */
export const triggerRequest = {
	words: 'When a contact of 18 or older is created, start',
	parameters: {
		triggerOn: 'created',
		application: located('crm'),
		table: located('contacts'),
		...conditions({ field: 'age', operator: 'gte', value: '18' }),
		startFrom: 'now',
	} satisfies INodeParameters,
};
