import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { invalid, ApiError, type ErrorItem } from './errors.mts';

// The schemas belong to this repository. Checking them would take half of the start-up time.
const ajv = new Ajv2020({ strict: false, discriminator: true, validateSchema: false });

/** Compiles a schema's validation when it is first needed: one run needs only a few. */
export function compiledOnce(compile: () => ValidateFunction): () => ValidateFunction {
	let compiled: ValidateFunction | undefined;
	return () => (compiled ??= compile());
}

/** A function that returns a valid request body with its type, or throws an ApiError (400). */
export function bodyValidator<Schema extends TSchema>(
	schema: Schema,
): (body: unknown) => Static<Schema> {
	const validation = compiledOnce(() => ajv.compile(schema));
	return (body) => {
		requireValidBody(validation(), body);
		return body as Static<Schema>;
	};
}

/** Throws an ApiError (400) unless the request body is valid. */
export function requireValidBody(validate: ValidateFunction, body: unknown): void {
	if (body === undefined) throw invalid('The request body is missing; it must be JSON.');
	if (!validate(body)) throw new ApiError(400, toErrorItems(validate, 'body', 'property'));
}

/** The first validation error; with its position if it is a record's. */
export function toErrorItems(validate: ValidateFunction, root: string, noun: string): ErrorItem[] {
	const error = validate.errors?.[0];
	if (!error) return invalid(`The ${root} is invalid.`).items;
	const index = /^\/bulk\/(\d+)/.exec(error.instancePath)?.[1];
	return [
		{
			type: 'info',
			id: 'parameterParseFailedException',
			message: `${root}${error.instancePath}: ${reason(error, noun)}`,
			...(index === undefined ? {} : { position: Number(index) }),
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
