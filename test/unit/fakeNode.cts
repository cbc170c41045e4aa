/**
 * The node in a fake execution of n8n, on a fake platform. Parameters and items go in; items,
 * requests, hints, files and log lines come out. n8n's own code fills in the parameters' defaults.
 */
import {
	NodeHelpers,
	type IBinaryData,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
	type NodeApiError,
	type NodeOperationError,
} from 'n8n-workflow';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { properties } from '../../nodes/DataPlatform/actions/index.ts';
import { router } from '../../nodes/DataPlatform/actions/router.ts';
import type { ShownParameters } from '../../nodes/DataPlatform/parameterKinds/parameter.ts';
import { createClient } from '../../nodes/DataPlatform/run/createClient.ts';
import { RunContext } from '../../nodes/DataPlatform/run/run.ts';
import { inSubCollections, unknownParameters } from '../support/engine/knownParameters.cts';
import { tokenQueues } from '../../nodes/DataPlatform/transport/tokenQueue.ts';
import { httpResponse, received, streamed, type Serve } from './stubPlatform.cts';

export interface Given {
	/** The operation's own parameters, and options by name. The others have their defaults. */
	parameters?: INodeParameters;
	/** Parameters as they are, without defaults and without checking that the operation has them. */
	plain?: IDataObject;
	items?: INodeExecutionData[];
	serve?: Serve;
	credential?: IDataObject;
	/** Other properties of the node, such as `onError`. */
	node?: Partial<INode>;
	/** What n8n keeps for the node between attempts. */
	store?: IDataObject;
	runIndex?: number;
	timezone?: string;
	/**
	 * The files in n8n's store, by ID. Reading throws an error entry, in a list after the pieces
	 * before it.
	 */
	files?: Record<string, string | Buffer | Error | Array<string | Error>>;
	/** Called with each piece of a file that is written to n8n's store. */
	receive?: (piece: Uint8Array) => void | Promise<void>;
	canceled?: AbortSignal;
}

/** What was observed. */
export interface Seen {
	/** `METHOD path`, without the common beginning of all paths. */
	requests: string[];
	sent: Array<{ request: string; query: Record<string, string>; body: unknown }>;
	options: IHttpRequestOptions[];
	/** How many of the requests had no token. */
	withoutToken: number;
	hints: Array<{ message: string; type?: string; location?: string }>;
	/** `level: line` */
	log: string[];
	/** The files that were written to n8n's store. */
	stored: Array<{ name?: string; mimetype?: string; text: string }>;
	/** How many streams of n8n's store are still open. */
	openStreams: number;
}

/** The output items of a node before this one. */
export const asItems = (...all: IDataObject[]): INodeExecutionData[] => all.map((json) => ({ json }));

/** A table chosen by name. */
export const TABLE = { application: locator('sales'), table: locator('people') };

export function locator(value: string, mode = 'id') {
	return { __rl: true, mode, value } as const;
}

/** The mapper's values: automatic, or the given ones. */
export const columns = (value?: IDataObject) =>
	(value ? { mappingMode: 'defineBelow', value } : { mappingMode: 'autoMapInputData', value: null }) as INodeParameters;

const PREFIX = '/api/v2/';

const isExpression = (value: unknown): value is string => typeof value === 'string' && value.startsWith('=');

/** An expression's value. Only simple ones are supported: `={{ $json.name }}`. */
function evaluate(expression: string, json: IDataObject, index: number): unknown {
	const [, code = ''] = /^=\{\{(.*)\}\}$/s.exec(expression) ?? [];
	// The code comes from a test, not from a stranger.
	return (new Function('$json', '$itemIndex', `return (${code})`) as (...given: unknown[]) => unknown)(json, index);
}

function resolved(value: unknown, json: IDataObject, index: number): unknown {
	if (isExpression(value)) return evaluate(value, json, index);
	if (Array.isArray(value)) return value.map((entry) => resolved(entry, json, index));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, resolved(entry, json, index)]));
}

const valueAt = (parameters: unknown, path: string): unknown =>
	path
		.split('.')
		.reduce<unknown>(
			(inner, name) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined),
			parameters,
		);

/** @throws if the operation does not have one of the parameters */
function withDefaults(given: INodeParameters, node: INode): INodeParameters {
	const parameters = inSubCollections(properties, given);
	const unknown = unknownParameters(properties, parameters);
	if (unknown.length > 0) {
		throw new Error(`The operation has no parameter '${unknown.join("', '")}'`);
	}
	const type = { name: node.type, properties, defaults: {} } as unknown as INodeTypeDescription;
	return NodeHelpers.getNodeParameters(properties, parameters, true, false, node, type) ?? {};
}

/** The functions that n8n passes to the node, and a record of their use. */
export function fakeExecution({
	parameters = {},
	plain,
	items = [{ json: {} }],
	serve = () => httpResponse(404, { errors: [{ message: 'no such path' }] }),
	credential = {},
	node: more,
	store = {},
	runIndex = 0,
	timezone = 'Europe/Vienna',
	files = {},
	receive,
	canceled,
}: Given): { context: IExecuteFunctions; seen: Seen } {
	// As in a new process.
	tokenQueues.clear();
	const seen: Seen = { ...{ requests: [], sent: [], options: [], withoutToken: 0 }, ...{ hints: [], log: [], stored: [], openStreams: 0 } };
	const node: INode = {
		...{ id: 'n', name: 'Data Platform', type: 'dataPlatform', typeVersion: 1, position: [0, 0] },
		parameters: {},
		...more,
	};
	node.parameters = (plain as INodeParameters) ?? withDefaults(parameters, node);
	const send = async (asked: IHttpRequestOptions) => {
		const options = asked.body instanceof Readable ? await received(asked) : asked;
		const { pathname, searchParams } = new URL(options.url);
		const request = `${options.method} ${pathname.replace(PREFIX, '')}`;
		const text = Buffer.isBuffer(options.body) ? options.body.toString() : '';
		const body = text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined;
		seen.requests.push(request);
		seen.options.push(options);
		seen.sent.push({ request, query: Object.fromEntries(searchParams), body });
		const result = await serve(options, seen.requests.length);
		if (result instanceof Error) throw result;
		return streamed(result);
	};
	const log = (level: string) => (line: string) => seen.log.push(`${level}: ${line}`);
	const binaryOf = (index: number, name: string) => {
		const binary = items[index]?.binary?.[name];
		if (binary) return binary;
		throw new Error(`This operation expects the node's input data to contain a binary file '${name}'`);
	};
	const contentOf = (id: string): Array<Buffer | Error> => {
		const content = files[id] ?? new Error(`No file ${id}`);
		if (content instanceof Error) throw content;
		return [content].flat().map((piece) => (piece instanceof Error ? piece : Buffer.from(piece as string)));
	};
	const helpers = {
		httpRequestWithAuthentication: async (type: string, options: IHttpRequestOptions) => {
			if (type !== 'dataPlatformApi') throw new Error(`No credential of the type ${type}`);
			return await send(options);
		},
		httpRequest: async (options: IHttpRequestOptions) => {
			seen.withoutToken += 1;
			return await send(options);
		},
		assertBinaryData: binaryOf,
		getBinaryDataBuffer: async (index: number, name: string) => Buffer.from(binaryOf(index, name).data, 'base64'),
		getBinaryStream: async (id: string, chunkBytes: number) => {
			const content = contentOf(id);
			seen.openStreams += 1;
			async function* pieces() {
				for (const piece of content) {
					if (piece instanceof Error) throw piece;
					for (let at = 0; at < piece.length; at += chunkBytes) yield piece.subarray(at, at + chunkBytes);
				}
			}
			return Readable.from(pieces()).on('close', () => (seen.openStreams -= 1));
		},
		prepareBinaryData: async (data: AsyncIterable<Uint8Array>, name?: string, mimetype?: string): Promise<IBinaryData> => {
			const pieces: Uint8Array[] = [];
			for await (const piece of data) {
				await receive?.(piece);
				pieces.push(piece);
			}
			seen.stored.push({ name, mimetype, text: Buffer.concat(pieces).toString() });
			return { id: `stored-${seen.stored.length}`, data: 'store', fileName: name, mimeType: mimetype! };
		},
	};
	const context = {
		helpers,
		logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
		sendMessageToUI: log('console'),
		getInputData: () => items,
		getNode: () => node,
		getParentNodes: () => [],
		getTimezone: () => timezone,
		getExecutionId: () => '17',
		getWorkflow: () => ({ id: 'workflow', name: 'Workflow', active: true }),
		getContext: () => store,
		getExecutionCancelSignal: () => canceled,
		getCredentials: async (_type: string, index = 0) => {
			const all = { ...{ baseUrl: 'https://platform.example.com', token: 'secret', accessType: 'role' }, ...credential };
			return resolved(all, items[index]?.json ?? {}, index);
		},
		evaluateExpression: (expression: string, index: number) =>
			expression === '{{ $runIndex }}' ? runIndex : evaluate(`=${expression}`, items[index]?.json ?? {}, index),
		continueOnFail: () => (node.onError ?? 'stopWorkflow') !== 'stopWorkflow',
		addExecutionHints: (...hints: Seen['hints']) => seen.hints.push(...hints),
		getNodeParameter: (
			name: string,
			index: number,
			fallback?: unknown,
			options?: { rawExpressions?: boolean; skipValidation?: boolean },
		) => {
			if (name === 'columns.value' && !options?.skipValidation) {
				throw new Error('n8n checks the values by the table as it was when the workflow was saved');
			}
			const stored = valueAt(node.parameters, name);
			const value = stored === undefined ? fallback : stored;
			if (value === undefined) throw new Error(`Could not get parameter '${name}'`);
			return options?.rawExpressions ? value : resolved(value, items[index]?.json ?? {}, index);
		},
	};
	return { context: context as unknown as IExecuteFunctions, seen };
}

export interface NodeRun extends Seen {
	/** The node's output; empty if it failed. */
	output: INodeExecutionData[];
	json: IDataObject[];
	/** The error that stopped it. */
	error?: NodeApiError | NodeOperationError;
}

/** Runs the node, as n8n does. @param operation such as `record: create` */
export async function runNode(operation: string, given: Given): Promise<NodeRun> {
	const [resource = '', name = ''] = operation.split(': ');
	const { context, seen } = fakeExecution({ ...given, parameters: { resource, operation: name, ...given.parameters } });
	try {
		const [output = []] = await router(context);
		return Object.assign(seen, { output, json: output.map(({ json }) => json) });
	} catch (error) {
		return Object.assign(seen, { output: [], json: [], error: error as NodeOperationError });
	} finally {
		// Streams report a moment later that they are closed.
		await nextTurn();
	}
}

/** Shows the given parameters, wherever they are stored. */
function shownIn({ options, ...fields }: IDataObject): ShownParameters {
	const shown = (path: string) => (name: string) => [name, { path: `${path}${name}`, property: { name } as INodeProperties }] as const;
	return new Map([
		...Object.keys(fields).map(shown('')),
		...Object.keys((options as IDataObject | undefined) ?? {}).map(shown('options.')),
	]);
}

/** A run as operations see it, with the given parameters. */
export async function fakeRun(plain: IDataObject, given: Given = {}) {
	const { context, seen } = fakeExecution({ plain, ...given });
	const client = await createClient(context, { timeout: 60, maxRetryWait: 0 });
	return { run: new RunContext<string>(context, client, shownIn(plain)), context, seen };
}
