import type { Field, Json, JsonObject } from '../state/model.mts';

const numbers = ['number', 'decimal', 'money', 'percentage'];

/** Converts the strings that a browser sends to the fields' types; JSON stays as it is. */
export function parseFormInput(fields: Field[], input: JsonObject): JsonObject {
	return Object.fromEntries(
		fields
			.filter((field) => Object.hasOwn(input, field.name))
			.map((field) => [field.name, parseValue(field, input[field.name] ?? null)]),
	);
}

function parseValue(field: Field, value: Json): Json {
	if (typeof value !== 'string') return value;
	if (field.type === 'checkbox') return value === 'on' || value === 'true';
	if (value === '') return null;
	if (!numbers.includes(field.type) || Number.isNaN(Number(value))) return value;
	return Number(value);
}
