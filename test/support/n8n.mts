/** What tests do in an n8n besides what harness/n8nApi.mts does. */

import type { JsonObject, N8nApi, NewCredential } from '../../harness/n8nApi.mts';

/** Stores a credential, with some of its values changed. Returns it as nodes refer to it. */
export async function storeCredential(api: N8nApi, { data, ...credential }: NewCredential, change: JsonObject = {}) {
	return { id: await api.createCredential({ ...credential, data: { ...data, ...change } }), name: credential.name };
}

export interface ExecutionSummary {
	id: string;
	status: string;
	mode: string;
	startedAt: string | null;
	stoppedAt: string;
	retryOf?: string | null;
	retrySuccessId?: string | null;
}

/** How many executions n8n lists at once. */
export const PAGE = 100;

/**
 * A workflow's executions, the latest first.
 *
 * @param status those of one status
 * @param before those before this one
 */
export async function listExecutions(
	api: N8nApi,
	workflowId: string,
	{ status, before }: { status?: string; before?: string } = {},
): Promise<ExecutionSummary[]> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId, ...(status && { status: [status] }) }));
	const path = `/executions?filter=${filter}&limit=${PAGE}${before ? `&lastId=${before}` : ''}`;
	return (await api.request<{ results: ExecutionSummary[] }>('GET', path)).results;
}
