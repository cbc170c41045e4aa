import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { HttpClient, HttpResponse, SandboxAdmin } from '../../harness/sandboxAdmin.mts';
import { parse } from 'yaml';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';

/** A part of the document. */
interface Node {
	[name: string]: Node;
}

const file = join(__dirname, '..', '..', 'contract', 'openapi.yaml');
const document = parse(readFileSync(file, 'utf8')) as Node;
const ajv = new Ajv2020({ strict: false, schemas: { contract: document } });
addFormats(ajv);

export interface ContractOperation {
	id: string;
	method: string;
	url: string;
	origin: string;
	pattern: RegExp;
	responses: Node;
}

/** Every operation in contract/openapi.yaml, at each of its servers. */
export const operations: ContractOperation[] = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
	['get', 'post', 'put', 'patch', 'delete']
		.filter((method) => item[method])
		.flatMap((method) =>
			Object.values(item.servers ?? document.servers ?? {}).map((server) => ({
				id: String(item[method]?.operationId),
				method,
				url: String(server.url) + path,
				origin: String(server['x-origin'] ?? item[method]?.['x-origin']),
				pattern: pathPattern(String(server.url) + path + (item['x-trailing-slash'] ? '/?' : '')),
				responses: item[method]?.responses as Node,
			})),
		),
);

/** A sandbox as the platform. */
export class CheckedPlatform {
	sandbox!: RunningSandbox;
	/** A client with the role's token. Like all of `as`, it throws if a response does not conform to the contract. */
	client!: HttpClient;

	use(sandbox: RunningSandbox) {
		this.sandbox = sandbox;
		this.client = this.as();
	}

	get admin(): SandboxAdmin {
		return this.sandbox.admin;
	}

	get tokens() {
		return this.sandbox.tokens;
	}

	as(token?: string): HttpClient {
		const client = this.sandbox.client(token);
		client.interceptors.response.use((response) => {
			checkResponse(response);
			return response;
		});
		return client;
	}
}

/** The sandbox that test files share, as at its start. */
export function usePlatform(options?: { seeded: boolean }): CheckedPlatform {
	const platform = new CheckedPlatform();
	beforeAll(async () => {
		platform.use(await sharedSandbox({ seeded: true, ...options }));
		await platform.admin.reset();
	});
	return platform;
}

/** No record or file has it. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** What a client gets if the sandbox ends a connection. */
export const BROKEN_CONNECTION = /ECONNRESET|ECONNREFUSED|EPIPE|socket hang up|aborted/;

/** The statuses of checked responses. */
export const seen = new Map<ContractOperation, Set<number>>();

/** Throws if the status, the media type or the body does not conform to the contract. */
function checkResponse(response: HttpResponse): void {
	const url = new URL(response.config.url ?? '', `${response.config.baseURL ?? ''}/`);
	const path = (response.config.url ?? '').startsWith('http')
		? url.pathname
		: new URL(`${response.config.baseURL}${response.config.url}`).pathname;
	const operation = operationAt(String(response.config.method), path);
	const described = operation.responses[response.status] ?? operation.responses[`${Math.floor(response.status / 100)}XX`];
	if (!described) throw new Error(`${operation.id} does not respond with ${response.status}.`);
	const content = resolve(described).content;
	if (!content) {
		if (response.data !== '') throw new Error(`${operation.id} responded with a body.`);
	} else {
		const type = String(response.headers['content-type'] ?? '').split(';')[0] ?? '';
		const media = content[type] ?? content['*/*'];
		if (!media) throw new Error(`${operation.id} responded with the media type '${type}'.`);
		if (type === 'application/json') conform(media.schema as Node, response.data, operation.id);
	}
	const statuses = seen.get(operation) ?? new Set();
	seen.set(operation, statuses.add(response.status));
}

/** All field types of the contract. */
export const fieldTypes = Object.values(document.components?.schemas?.FieldType?.enum ?? {}).map(String);

/** Throws if a value does not conform to its field type's schema. */
export function checkFieldValue(type: string, form: 'read' | 'write', value: unknown): void {
	const schema = document['x-field-values']?.[type]?.[form];
	if (!schema) throw new Error(`The contract has no ${form} form for ${type}.`);
	conform(schema, value, type);
}

function operationAt(method: string, path: string): ContractOperation {
	// Static path segments take precedence over parameters, as in routers.
	const found = operations
		.filter((operation) => operation.method === method && operation.pattern.test(path))
		.sort((a, b) => parameters(a.pattern) - parameters(b.pattern))[0];
	if (!found) throw new Error(`The contract has no operation ${method} ${path}.`);
	return found;
}

/** What checks values, by schema: each response would compile it again. */
const validators = new WeakMap<Node, ValidateFunction>();

function validatorOf(schema: Node): ValidateFunction {
	const known = validators.get(schema);
	if (known) return known;
	const local = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/');
	const validate = ajv.compile(JSON.parse(local) as object);
	validators.set(schema, validate);
	return validate;
}

function conform(schema: Node, value: unknown, subject: string): void {
	const validate = validatorOf(schema);
	if (validate(value)) return;
	throw new Error(`${subject}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 500)}`);
}

function resolve(node: Node): Node {
	if (!node.$ref) return node;
	return String(node.$ref)
		.slice(2)
		.split('/')
		.reduce<Node>((at, step) => at[step] as Node, document);
}

function pathPattern(url: string): RegExp {
	return new RegExp(`^${url.replace('{baseUrl}', '').replace(/\{\w+\}/g, '([^/]+)')}$`);
}

function parameters(pattern: RegExp): number {
	return pattern.source.split('(').length;
}
