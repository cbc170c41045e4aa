import { createHash } from 'node:crypto';
import { findApp, findTable } from '../catalog/find.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { uuidOf } from '../catalog/ids.mts';

/** A workflow that stores the contact in its payload, and a public form for contacts. */
export function seedWorkflows(state: SandboxState): void {
	const name = 'Contact from outside';
	state.workflows.put({
		id: uuidOf(`workflow ${name}`),
		name,
		trigger: createHash('sha256').update(`sandbox webhook ${name}`).digest('hex').slice(0, 48),
		runAs: 'me',
		configuredBy: uuidOf('user admin'),
		script: [
			'const { firstname, surname, email } = svc.workflow.payloadRequest;',
			"svc.log('Contact', firstname, surname);",
			"const contacts = svc.table('crm/contacts');",
			'return contacts.create({ firstname, surname, email }, { useUpsert: true });',
		].join('\n'),
		response: 'accepted',
		timeLimitMs: 5000,
	});
	state.forms.put({
		id: 'contact-us',
		name: 'Contact us',
		tableId: findTable(state, 'contacts', findApp(state, 'crm')).id,
		tokenId: uuidOf('token form'),
		fields: ['firstname', 'surname', 'age', 'email', 'newsletter'],
	});
}
