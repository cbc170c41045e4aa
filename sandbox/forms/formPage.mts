import type { Field, Form } from '../state/model.mts';

const inputTypes: Partial<Record<Field['type'], string>> = {
	number: 'number',
	decimal: 'number',
	money: 'number',
	percentage: 'number',
	checkbox: 'checkbox',
	date: 'date',
	datetime: 'datetime-local',
};

/** The form as a page without scripts; it posts to its own URL. */
export function formPage(form: Form, fields: Field[]): string {
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(form.name)}</title>
<style>
	body { font: 16px/1.5 system-ui, sans-serif; max-width: 30rem; margin: 2rem auto; }
	label { display: block; margin: 1rem 0; }
	input:not([type=checkbox]) { display: block; width: 100%; padding: .4rem; }
</style>
<h1>${escape(form.name)}</h1>
<form method="post">
${fields.map(inputOf).join('\n')}
<button>Send</button>
</form>
</html>
`;
}

function inputOf({ name, header, type, metadata }: Field): string {
	const required = metadata.required ? ' required' : '';
	const step = ['decimal', 'money', 'percentage'].includes(type) ? ' step="any"' : '';
	const kind = inputTypes[type] ?? 'text';
	const input = `<input name="${escape(name)}" type="${kind}"${step}${required}>`;
	return `<label>${escape(header)} ${input}</label>`;
}

function escape(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
