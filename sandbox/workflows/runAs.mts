import { isCurrent } from '../access/tokens.mts';
import type { ApiRequest } from '../api/request.mts';
import type { Run, Token, Workflow } from '../state/model.mts';

/**
 * The token whose rights the script has, by Run As. Describes it in `run.actedAs`. Throws an Error
 * if there is no valid one.
 */
export function actingToken(request: ApiRequest, workflow: Workflow, run: Run): Token {
	const { state } = request;
	if (workflow.runAs === 'caller') {
		run.actedAs = `caller (token ${request.token.name})`;
		return request.token;
	}
	if (workflow.runAs === 'token') {
		const token = state.tokens.get(workflow.tokenId ?? '');
		run.actedAs = `token ${token?.name ?? '(deleted)'}`;
		if (!token || !isCurrent(token)) throw new Error('The token for Run As is not valid.');
		return token;
	}
	const user = state.users.get(workflow.configuredBy);
	run.actedAs = `me (${user?.email ?? 'deleted user'})`;
	if (!user) throw new Error('The user who configured the workflow no longer exists.');
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
