import type { Field, Json, JsonObject } from '../state/model.mts';

const numbers = ['number', 'decimal', 'money', 'percentage'];

/** What a browser sends (text, whatever the field) in the field's type; JSON stays as it is. */
export function typedInput(fields: Field[], input: JsonObject): JsonObject {
	return Object.fromEntries(
		fields
			.filter((field) => Object.hasOwn(input, field.name))
			.map((field) => [field.name, typed(field, input[field.name] ?? null)]),
	);
}

function typed(field: Field, value: Json): Json {
	if (typeof value !== 'string') return value;
	if (field.type === 'checkbox') return value === 'on' || value === 'true';
	if (value === '') return null;
	if (!numbers.includes(field.type) || Number.isNaN(Number(value))) return value;
	return Number(value);
}
