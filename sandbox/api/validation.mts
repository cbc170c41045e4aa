import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonObject } from '../state/model.mts';
import { invalid, ApiError, type ErrorItem } from './errors.mts';

const ajv = new Ajv2020({ strict: false, useDefaults: true });

/** Validates request bodies against a JSON Schema; throws an ApiError (400). */
export function bodyValidator<Body>(schema: JsonObject): (body: unknown) => Body {
	const validate = ajv.compile(schema);
	return (body) => {
		if (body === undefined) throw invalid('The request body is missing; it must be JSON.');
		if (!validate(body)) throw new ApiError(400, toErrorItems(validate, 'body', 'property'));
		return body as Body;
	};
}

/** The first validation error; with `RecordIndex` if it is a record's. */
export function toErrorItems(validate: ValidateFunction, root: string, noun: string): ErrorItem[] {
	const error = validate.errors?.[0];
	if (!error) return invalid(`The ${root} is invalid.`).items;
	const index = /^\/bulk\/(\d+)/.exec(error.instancePath)?.[1];
	return [
		{
			type: 'info',
			id: 'parameterParseFailedException',
			message: `${root}${error.instancePath}: ${reason(error, noun)}`,
			...(index === undefined ? {} : { RecordIndex: Number(index) }),
		},
	];
}

function reason(error: ErrorObject, noun: string): string {
	const parameters = error.params as Record<string, unknown>;
	if (error.keyword === 'additionalProperties') {
		return `unknown ${noun} '${String(parameters.additionalProperty)}'`;
	}
	if (error.keyword === 'enum') {
		return `must be one of ${(parameters.allowedValues as unknown[]).join(', ')}`;
	}
	return error.message ?? 'is invalid';
}
