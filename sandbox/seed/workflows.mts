import { createHash } from 'node:crypto';
import type { SandboxState } from '../state/sandboxState.mts';
import { uuidOf } from '../catalog/ids.mts';

/** A workflow that stores the contact in its payload. */
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
}
