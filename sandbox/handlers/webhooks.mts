import type { ApiResponse, Handler } from '../api/request.mts';
import type { Run } from '../state/model.mts';
import { forbidden, notFound, ApiError } from '../api/errors.mts';
import { startRun } from '../workflows/engine.mts';

/** POST the webhook URL. The workflow's settings determine the response. */
export const startWorkflow: Handler = async (request) => {
	const { state, token, params } = request;
	if (token.type === 'short' || token.type === 'form') {
		throw forbidden('A token of this type cannot start workflows; use a workflow execution token.');
	}
	const workflow = state.workflows.all().find((entry) => entry.trigger === params.trigger);
	if (!workflow) throw notFound('There is no webhook at this URL.');
	const { run, ended } = startRun(request, workflow);
	if (workflow.response === 'output') return outputResponse(await ended);
	if (workflow.response === 'empty') return { status: 204 };
	if (workflow.response === 'text') {
		const headers = { 'content-type': 'text/plain; charset=utf-8' };
		return { status: 200, headers, content: 'OK' };
	}
	return { status: 202, body: { data: { runId: run.id } } };
};

function outputResponse(run: Run): ApiResponse {
	if (run.status === 'succeeded') return { status: 200, body: run.output };
	const message = `The workflow failed: ${run.error ?? 'unknown error'}`;
	throw new ApiError(500, [{ type: 'exception', id: 'workflowFailedException', message }]);
}
