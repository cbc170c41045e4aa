import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { compiledOnce, requireValidBody, toErrorItems } from './validation.mts';
import type { Json, JsonObject } from '../state/model.mts';
import { invalid, ApiError } from './errors.mts';

const contractFile = new URL('../../contract/openapi.yaml', import.meta.url);
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const schemaRoot = 'contract';

/** One operation of contract/openapi.yaml, with the validation of its requests. */
export interface Operation {
	/** The same with and without an application in the URL. */
	id: string;
	method: string;
	/** The route: with the API's prefix, and `:name` for path parameters. */
	url: string;
	/** Whether the token may be a query parameter. */
	queryToken: boolean;
	/** Returns the parameters in their types, with defaults. Throws an ApiError (400). */
	checkQuery(query: unknown): JsonObject;
	/** Throws an ApiError (400). */
	checkBody(body: unknown): void;
}

let loaded: Operation[] | undefined;

/** All operations of the contract, read once. */
export function operations(): readonly Operation[] {
	loaded ??= loadOperations();
	return loaded;
}

/** The operation with this ID, without an application in its URL. */
export function operationNamed(id: string): Operation {
	const found = operations().find((operation) => operation.id === id);
	if (!found) throw new Error(`The contract has no operation '${id}'.`);
	return found;
}

/**
 * Reads contract/openapi.yaml. The sandbox serves exactly the operations in it and rejects whatever
 * they don't define, so that a client that drifts from the contract fails.
 */
function loadOperations(): Operation[] {
	const document = parse(readFileSync(contractFile, 'utf8')) as JsonObject;
	// `npm test -- openapi` checks the schemas themselves.
	const options = { strict: false, validateSchema: false };
	const ajv = new Ajv2020({ ...options, schemas: { [schemaRoot]: document } });
	addFormats.default(ajv);
	const queryAjv = new Ajv2020({ ...options, coerceTypes: true, useDefaults: true });

	const operations: Operation[] = [];
	for (const [path, item] of entries(document.paths)) {
		const { servers } = { ...document, ...(item as JsonObject) };
		for (const method of methods) {
			const operation = (item as JsonObject)[method] as JsonObject | undefined;
			if (!operation) continue;
			const parameters = [...list(item, 'parameters'), ...list(operation, 'parameters')].map(
				(parameter) => resolve(document, parameter),
			);
			const checked = {
				id: String(operation.operationId),
				method: method.toUpperCase(),
				queryToken: JSON.stringify(operation.security ?? null).includes('queryToken'),
				checkQuery: queryChecker(queryAjv, parameters),
				checkBody: bodyChecker(ajv, document, operation),
			};
			for (const { url } of servers as Array<{ url: string }>) {
				operations.push({ ...checked, url: toRoute(url + path) });
				if ((item as JsonObject)['x-trailing-slash']) {
					operations.push({ ...checked, url: toRoute(`${url}${path}/`) });
				}
			}
		}
	}
	return operations;
}

/** `{baseUrl}/api/v2/{table}/data` becomes `/api/v2/:table/data`. */
function toRoute(url: string): string {
	return url.replace('{baseUrl}', '').replace(/\{(\w+)\}/g, ':$1');
}

function queryChecker(ajv: Ajv2020, parameters: JsonObject[]): Operation['checkQuery'] {
	const properties: JsonObject = {};
	const required: string[] = [];
	for (const parameter of parameters.filter((entry) => entry.in === 'query')) {
		properties[String(parameter.name)] = parameter.schema ?? {};
		if (parameter.required) required.push(String(parameter.name));
	}
	const validation = compiledOnce(() =>
		ajv.compile({ type: 'object', properties, required, additionalProperties: false }),
	);
	return (query) => {
		const values = { ...(query as JsonObject) };
		for (const [name, value] of Object.entries(values)) {
			if (Array.isArray(value))
				throw invalid(`The query parameter '${name}' is in the URL more than once.`);
		}
		const validate = validation();
		if (!validate(values))
			throw new ApiError(400, toErrorItems(validate, 'query', 'query parameter'));
		return values;
	};
}

function bodyChecker(
	ajv: Ajv2020,
	document: JsonObject,
	operation: JsonObject,
): Operation['checkBody'] {
	if (!operation.requestBody) {
		return (body) => {
			if (body !== undefined) throw invalid('This operation does not accept a request body.');
		};
	}
	const content = resolve(document, operation.requestBody).content as JsonObject;
	const schema = (content['application/json'] as JsonObject).schema as JsonObject;
	const local = typeof schema.$ref === 'string' && schema.$ref.replace(/^#/, `${schemaRoot}#`);
	const validation = compiledOnce(() => ajv.compile(local ? { $ref: local } : schema));
	return (body) => requireValidBody(validation(), body);
}

function resolve(document: JsonObject, value: Json): JsonObject {
	const reference = (value as JsonObject).$ref;
	if (typeof reference !== 'string') return value as JsonObject;
	let target: Json = document;
	for (const step of reference.slice(2).split('/')) target = (target as JsonObject)[step] ?? null;
	return target as JsonObject;
}

function entries(value: Json | undefined): Array<[string, Json]> {
	return Object.entries((value ?? {}) as JsonObject);
}

function list(value: Json, name: string): Json[] {
	return ((value as JsonObject)[name] ?? []) as Json[];
}
