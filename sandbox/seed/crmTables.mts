import type { TableInput } from '../catalog/tableInput.mts';

const choices = (...values: string[]) => values.map((value, order) => ({ value, order }));

export const companyTable: TableInput = {
	internalName: 'companies',
	header: 'Companies',
	fields: [
		{
			name: 'name',
			header: 'Name',
			type: 'text',
			metadata: { required: true, maxLength: 100, importKey: true },
		},
		{ name: 'city', header: 'City', type: 'text' },
		{ name: 'employees', header: 'Employees', type: 'number', metadata: { min: 0 } },
		{ name: 'website', header: 'Website', type: 'url_link' },
		{
			name: 'size',
			header: 'Size',
			type: 'radio',
			metadata: { items: choices('small', 'medium', 'large') },
		},
		{ name: 'logo', header: 'Logo', type: 'picture' },
	],
	views: [{ name: 'Large companies', filter: 'size(eq)large' }],
};

export const contactTable: TableInput = {
	internalName: 'contacts',
	header: 'Contacts',
	fields: [
		{ name: 'firstname', header: 'First name', type: 'text', metadata: { maxLength: 50 } },
		{
			name: 'surname',
			header: 'Surname',
			type: 'text',
			metadata: { required: true, maxLength: 50 },
		},
		{ name: 'age', header: 'Age', type: 'number', metadata: { min: 0, max: 150 } },
		{ name: 'dateOfBirth', header: 'Date of birth', type: 'date' },
		{
			name: 'email',
			header: 'E-mail',
			type: 'text',
			metadata: { description: 'Unique, and used by imports.', importKey: true },
			unique: true,
		},
		{
			name: 'company',
			header: 'Company',
			type: 'schema_link',
			metadata: { linkTableId: 'companies', filterableFields: ['name', 'city'] },
		},
		{
			name: 'fullName',
			header: 'Full name',
			type: 'calculated',
			metadata: { template: '{firstname} {surname}' },
		},
		{ name: 'newsletter', header: 'Newsletter', type: 'checkbox' },
		{ name: 'photo', header: 'Photo', type: 'picture' },
		{
			name: 'syncState',
			header: 'Sync state',
			type: 'long_text',
			metadata: { description: 'Only a two-way sync writes it.' },
		},
	],
	views: [
		{ name: 'Adults', description: 'Eighteen and older', filter: 'age(gte)18' },
		{ name: 'Newsletter', filter: 'newsletter(eq)true' },
	],
};

export const dealTable: TableInput = {
	internalName: 'deals',
	header: 'Deals',
	fields: [
		{
			name: 'number',
			header: 'Number',
			type: 'text',
			metadata: { required: true, importKey: true },
		},
		{ name: 'title', header: 'Title', type: 'text', metadata: { required: true } },
		{ name: 'summary', header: 'Summary', type: 'long_text' },
		{ name: 'notes', header: 'Notes', type: 'markdown' },
		{
			name: 'stage',
			header: 'Stage',
			type: 'dropdown',
			metadata: { items: choices('open', 'won', 'lost') },
		},
		{
			name: 'priority',
			header: 'Priority',
			type: 'radio',
			metadata: { items: choices('low', 'normal', 'high') },
		},
		{ name: 'seats', header: 'Seats', type: 'number', metadata: { min: 1 } },
		{ name: 'weight', header: 'Weight (kg)', type: 'decimal' },
		{ name: 'fee', header: 'Fee', type: 'money', metadata: { min: 0 } },
		{
			name: 'chance',
			header: 'Chance',
			type: 'percentage',
			metadata: { min: 0, max: 1 },
		},
		{ name: 'value', header: 'Value', type: 'money_with_currency' },
		{ name: 'signed', header: 'Signed', type: 'checkbox' },
		{ name: 'due', header: 'Due', type: 'date' },
		{ name: 'meeting', header: 'Meeting', type: 'datetime' },
		{
			name: 'channels',
			header: 'Channels',
			type: 'dropdownmulti',
			metadata: { items: choices('mail', 'phone', 'web') },
		},
		{ name: 'tags', header: 'Tags', type: 'chips' },
		{ name: 'link', header: 'Link', type: 'url_link' },
		{ name: 'steps', header: 'Steps', type: 'checklist' },
		{ name: 'talk', header: 'Talk', type: 'chat' },
		{
			name: 'company',
			header: 'Company',
			type: 'schema_link',
			metadata: { linkTableId: 'companies', filterableFields: ['name'] },
		},
		{
			name: 'people',
			header: 'People',
			type: 'schema_link',
			metadata: { linkTableId: 'contacts', multiple: true },
		},
		{ name: 'sketch', header: 'Sketch', type: 'picture' },
		{ name: 'papers', header: 'Papers', type: 'file' },
		{ name: 'send', header: 'Send offer', type: 'buttonform' },
		{ name: 'hint', header: 'Hint', type: 'freehtmlinput' },
		{
			name: 'version',
			header: 'Version',
			type: 'system_type',
			metadata: { source: 'ver' },
		},
		{
			name: 'caption',
			header: 'Caption',
			type: 'calculated',
			metadata: { template: '{number}: {title}' },
		},
	],
	views: [{ name: 'Open deals', filter: 'stage(eq)open' }],
};

/** The example of a report writes to it; it begins empty. */
export const syncRunTable: TableInput = {
	internalName: 'syncRuns',
	header: 'Sync runs',
	fields: [
		{ name: 'run', header: 'Run', type: 'text', metadata: { required: true, importKey: true } },
		{ name: 'sync', header: 'Sync', type: 'text' },
		{ name: 'text', header: 'What it did', type: 'long_text' },
		{ name: 'started', header: 'Started', type: 'datetime' },
		{ name: 'finished', header: 'Finished', type: 'datetime' },
		{ name: 'inserted', header: 'New', type: 'number' },
		{ name: 'updated', header: 'Changed', type: 'number' },
		{ name: 'unchanged', header: 'As they were', type: 'number' },
		{ name: 'failed', header: 'Not written', type: 'number' },
	],
};
