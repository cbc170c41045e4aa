import { creatorOf } from '../access/tokens.mts';
import type { Call, Handler } from '../api/request.mts';
import { findTable } from '../catalog/find.mts';
import { formPage } from '../forms/formPage.mts';
import { typedInput } from '../forms/formInput.mts';
import type { Field, Form, JsonObject, Table } from '../state/model.mts';
import { forbidden, invalid, notFound } from '../api/errors.mts';
import { Writing } from '../records/writer.mts';

/** GET a public form: a page for people. Nobody has specified this. */
export const getForm: Handler = (call) => {
	const { form, fields } = demandForm(call);
	return {
		status: 200,
		headers: {
			'content-type': 'text/html; charset=utf-8',
			'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
		},
		content: formPage(form, fields),
	};
};

/** POST a public form: the inputs are validated as the table's fields are. */
export const submitForm: Handler = (call) => {
	const { form, table, fields } = demandForm(call);
	const names = new Set(fields.map((field) => field.name));
	const input = call.body as JsonObject;
	const unknown = Object.keys(input).find((name) => !names.has(name));
	if (unknown !== undefined) throw invalid(`The form '${form.name}' has no field '${unknown}'.`);
	const missing = fields.find(
		({ name, metadata }) => metadata.required && (input[name] ?? '') === '',
	);
	if (missing) throw invalid(`The form needs a value in '${missing.name}'.`);
	const user = creatorOf(call.world, call.token);
	const writing = new Writing({ ...call, user }, table);
	const { record } = call.world.database.transaction(() =>
		writing.create(typedInput(fields, input), false),
	);
	return { status: 201, body: { data: { id: record.id } } };
};

function demandForm(call: Call): { form: Form; table: Table; fields: Field[] } {
	const { world, token, params } = call;
	const form = world.forms.get(params.form ?? '');
	if (!form) throw notFound('There is no form at this address.');
	if (token.id !== form.tokenId) throw forbidden('This token does not belong to this form.');
	const table = findTable(world, form.tableId);
	const fields = table.fields.filter((field) => form.fields.includes(field.name));
	return { form, table, fields };
}
