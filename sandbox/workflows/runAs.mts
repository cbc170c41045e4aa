import { isCurrent } from '../access/tokens.mts';
import type { Call } from '../api/request.mts';
import type { Run, Token, Workflow } from '../state/model.mts';

/**
 * The token whose rights the script has; contract.md, section 4, "Run As". Tells it in the run.
 * Throws when there is none that may be used.
 */
export function actorOf(call: Call, workflow: Workflow, run: Run): Token {
	const { world } = call;
	if (workflow.runAs === 'caller') {
		run.actedAs = `caller (token ${call.token.name})`;
		return call.token;
	}
	if (workflow.runAs === 'token') {
		const token = world.tokens.get(workflow.tokenId ?? '');
		run.actedAs = `token ${token?.name ?? 'that is gone'}`;
		if (!token || !isCurrent(token)) throw new Error('The token that it runs as is not valid.');
		return token;
	}
	const user = world.users.get(workflow.configuredBy);
	run.actedAs = `me (${user?.email ?? 'a user who is gone'})`;
	if (!user) throw new Error('The user who configured it does not exist any more.');
	return {
		id: `run as ${user.id}`,
		name: `run as ${user.email}`,
		type: 'jwt',
		value: '',
		createdBy: user.id,
		createdOn: run.startedAt,
		status: 'valid',
		validTo: null,
		templates: false,
	};
}
