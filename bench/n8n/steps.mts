/** The nodes of the measured workflows: ours, and n8n's own that users would choose. */
import type { JsonObject, WorkflowJson } from '../../harness/n8nApi.mts';
import {
	BASE_NODES,
	linearWorkflow,
	NODE_TYPE,
	type Step,
} from '../../test/support/linearWorkflow.mts';
import type { BenchEnv } from '../benchEnv.mts';
import { APP, BULK_PATH, COLUMNS, createItem, DATA_PATH, TABLE } from '../benchTable.mts';
import type { N8nHost } from './host.mts';

/** What a workflow needs to know about its surroundings. */
export interface Place {
	env: BenchEnv;
	host: N8nHost;
	/** How many items, or megabytes of a file. */
	size: number;
	/** The file to read. */
	file: string;
	/** The record with the attachments. */
	record: string;
}

/** Nodes one after the other. */
export type Steps = (place: Place) => Step[] | Promise<Step[]>;

export const node = (
	name: string,
	type: string,
	typeVersion: number,
	parameters: JsonObject,
): Step => ({ name, type: `${BASE_NODES}.${type}`, typeVersion, parameters });

export const code = (name: string, jsCode: string) => node(name, 'code', 2, { jsCode });

/** The items, of which every `changedEvery`th differs from the table's record. */
export const items = (size: number, changedEvery = Infinity) =>
	code(
		'Items',
		`const createItem = ${createItem.toString()};
return Array.from({ length: ${size} }, (_, index) => ({
	json: { ...createItem(index), ...(index % ${changedEvery} === 0 && { city: 'Changed' }) },
}));`,
	);

export const locator = (value: string) => ({ __rl: true, mode: 'id', value });

export const AUTOMATIC = { mappingMode: 'autoMapInputData', value: {}, schema: [] };

/** What the mapper stores after a user has dragged a value into every field. */
export async function mappedByHand(place: Place): Promise<JsonObject> {
	const api = await place.host.api();
	const { fields } = await api.request<{ fields: Array<{ id: string }> }>(
		'POST',
		'/dynamic-node-parameters/resource-mapper-fields',
		{
			path: 'parameters',
			methodName: 'getColumnsToUpsert',
			nodeTypeAndVersion: { name: NODE_TYPE, version: 1 },
			currentNodeParameters: { application: locator(APP), table: locator(TABLE) },
			credentials: { dataPlatformApi: await credentialFor(place, 'dataPlatformApi') },
		},
	);
	const value = Object.fromEntries(fields.map(({ id }) => [id, `={{ $json.${id} }}`]));
	return { mappingMode: 'defineBelow', value, schema: fields };
}

/** Our node, on the table of people unless the parameters name another. */
export const platform = (operation: string, parameters: JsonObject = {}): Step => ({
	name: 'Data Platform',
	type: NODE_TYPE,
	typeVersion: 1,
	parameters: {
		resource: 'record',
		operation,
		application: locator(APP),
		table: locator(TABLE),
		options: {},
		...parameters,
	},
});

/** n8n's HTTP Request node; a path is one of the platform's. */
export const http = (
	{ env: { baseUrl } }: Place,
	name: string,
	{ url, ...parameters }: JsonObject & { url: string },
) =>
	node(name, 'httpRequest', 4.2, {
		url: url.startsWith('/') ? `${baseUrl}${url}` : url,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		options: {},
		...parameters,
	});

/** The same with a body from an expression. */
export const send = (place: Place, method: string, url: string, jsonBody: string) =>
	http(place, 'HTTP Request', { method, url, sendBody: true, specifyBody: 'json', jsonBody });

export const sendBodies = (place: Place) => send(place, 'POST', BULK_PATH, '={{ $json.body }}');

/** Reads page after page, each an item. */
export const readPages = (place: Place): Step => ({
	...http(place, 'Pages', {
		url: `${DATA_PATH}?limit=1000&sort=created,id`,
		options: {
			pagination: {
				pagination: {
					paginationMode: 'updateAParameterInEachRequest',
					parameters: {
						parameters: [{ type: 'qs', name: 'skip', value: '={{ $pageCount * 1000 }}' }],
					},
					paginationCompleteWhen: 'other',
					completeExpression: '={{ $response.body.data.length < 1000 }}',
				},
			},
		},
	}),
	executeOnce: true,
});

export interface Bodies {
	batchSize?: number;
	/** JavaScript that makes a record's fields of `json`. */
	fields?: string;
	useUpsert?: boolean;
}

/** A Code node that builds bulk bodies from its input. */
export const buildBodies = ({ batchSize = 1000, fields = 'json', useUpsert = true }: Bodies = {}) =>
	code(
		'Bodies',
		`const records = $input.all().map(({ json }) => ({ fields: ${fields} }));
const bodies = [];
for (let at = 0; at < records.length; at += ${batchSize}) {
	const body = { bulk: records.slice(at, at + ${batchSize}), useUpsert: ${useUpsert} };
	bodies.push({ json: { body: JSON.stringify(body) } });
}
return bodies;`,
	);

/** A Code node that gives each item its outcome. It relies on every record being in a response. */
const pairOutcomes = code(
	'Outcomes',
	`const records = $input.all().flatMap(({ json }) => json.data);
return $('Items').all().map((_, item) => {
	const { id, created, modified } = records[item];
	const outcome = created === modified ? 'inserted' : 'updated';
	return { json: { id, outcome }, pairedItem: { item } };
});`,
);

/** What a user builds to write in bulk: Code, HTTP Request, Code. */
export const bulk =
	(bodies: Bodies = {}): Steps =>
	(place) => [buildBodies(bodies), sendBodies(place), pairOutcomes];

/** The fields one by one, as users map them in a Code node. */
export const MAPPED_IN_CODE = `{ ${COLUMNS.map((name) => `${name}: json.${name}`).join(', ')} }`;

/** The same in n8n's node for it. */
export const editFields = node('Edit Fields', 'set', 3.4, {
	assignments: {
		assignments: Object.entries(createItem(0)).map(([name, value]) => ({
			id: name,
			name,
			type: typeof value,
			value: `={{ $json.${name} }}`,
		})),
	},
	options: {},
});

async function credentialFor({ env: { baseUrl, token }, host }: Place, type: string) {
	const data: Record<string, JsonObject> = {
		dataPlatformApi: { baseUrl, accessType: 'role', token },
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${token}` },
	};
	return await host.credential(type, data[type]!);
}

/** A workflow of nodes in a row. If one of them is a loop, the last one leads back to it. */
export async function toWorkflow(place: Place, name: string, steps: Step[]): Promise<WorkflowJson> {
	const header = { httpHeaderAuth: await credentialFor(place, 'httpHeaderAuth') };
	const { id } = await credentialFor(place, 'dataPlatformApi');
	const withHeader = steps.map((step) =>
		step.type.endsWith('.httpRequest') ? { ...step, credentials: header } : step,
	);
	const workflow = linearWorkflow(name, id, withHeader);
	const loop = steps.find(({ type }) => type.endsWith('.splitInBatches'));
	if (loop) {
		const to = (step: Step) => [{ node: step.name, type: 'main', index: 0 }];
		// Its first output is used when the loop is done.
		workflow.connections[loop.name] = { main: [[], to(steps[steps.indexOf(loop) + 1]!)] };
		workflow.connections[steps.at(-1)!.name] = { main: [to(loop)] };
	}
	return workflow;
}
