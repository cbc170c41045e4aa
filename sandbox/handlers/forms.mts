import { creatorOf } from '../access/tokens.mts';
import type { ApiRequest, Handler } from '../api/request.mts';
import { findTable } from '../catalog/find.mts';
import { formPage } from '../forms/formPage.mts';
import { parseFormInput } from '../forms/formInput.mts';
import type { Field, Form, JsonObject, Table } from '../state/model.mts';
import { forbidden, invalid, notFound } from '../api/errors.mts';
import { RecordWriter } from '../records/writer.mts';

/** GET a public form: a page for people. Not specified; the sandbox's choice. */
export const getForm: Handler = (request) => {
	const { form, fields } = requireForm(request);
	return {
		status: 200,
		headers: {
			'content-type': 'text/html; charset=utf-8',
			'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
		},
		content: formPage(form, fields),
	};
};

/** POST a public form: the input is validated like any record. */
export const submitForm: Handler = (request) => {
	const { form, table, fields } = requireForm(request);
	const names = new Set(fields.map((field) => field.name));
	const input = request.body as JsonObject;
	const unknown = Object.keys(input).find((name) => !names.has(name));
	if (unknown !== undefined) throw invalid(`The form '${form.name}' has no field '${unknown}'.`);
	const missing = fields.find(
		({ name, metadata }) => metadata.required && (input[name] ?? '') === '',
	);
	if (missing) throw invalid(`The form requires a value for '${missing.name}'.`);
	const user = creatorOf(request.state, request.token);
	const writer = new RecordWriter({ ...request, user }, table);
	const { record } = request.state.database.transaction(() =>
		writer.create(parseFormInput(fields, input), false),
	);
	return { status: 201, body: { data: { id: record.id } } };
};

function requireForm(request: ApiRequest): { form: Form; table: Table; fields: Field[] } {
	const { state, token, params } = request;
	const form = state.forms.get(params.form ?? '');
	if (!form) throw notFound('There is no form at this URL.');
	if (token.id !== form.tokenId) throw forbidden('This token does not belong to this form.');
	const table = findTable(state, form.tableId);
	const fields = table.fields.filter((field) => form.fields.includes(field.name));
	return { form, table, fields };
}
