import { createHash } from 'node:crypto';
import { findApp, findTable } from '../catalog/find.mts';
import type { World } from '../state/sandboxState.mts';
import { uuidOf } from '../catalog/ids.mts';

/** A workflow that takes a contact from outside, and a public form that does the same. */
export function seedWorkflows(world: World): void {
	const name = 'Contact from outside';
	world.workflows.put({
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
		answer: 'accepted',
		timeLimitMs: 5000,
	});
	world.forms.put({
		id: 'contact-us',
		name: 'Contact us',
		tableId: findTable(world, 'contacts', findApp(world, 'crm')).id,
		tokenId: uuidOf('token form'),
		fields: ['firstname', 'surname', 'age', 'email', 'newsletter'],
	});
}
