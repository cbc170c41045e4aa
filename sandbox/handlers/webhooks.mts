import type { Answer, Handler } from '../api/request.mts';
import type { Run } from '../state/model.mts';
import { forbidden, notFound, Problem } from '../api/errors.mts';
import { startRun } from '../workflows/engine.mts';

/** POST the webhook's URL; contract.md, section 4. What it answers is the workflow's setting. */
export const startWorkflow: Handler = async (call) => {
	const { world, token, params } = call;
	if (token.type === 'short' || token.type === 'form') {
		throw forbidden('This type of token starts no workflows: use a workflow execution token.');
	}
	const workflow = world.workflows.all().find((entry) => entry.trigger === params.trigger);
	if (!workflow) throw notFound('There is no webhook at this address.');
	const { run, ended } = startRun(call, workflow);
	if (workflow.answer === 'output') return outputOf(await ended);
	if (workflow.answer === 'empty') return { status: 204 };
	if (workflow.answer === 'text') {
		const headers = { 'content-type': 'text/plain; charset=utf-8' };
		return { status: 200, headers, content: 'OK' };
	}
	return { status: 202, body: { data: { runId: run.id } } };
};

function outputOf(run: Run): Answer {
	if (run.status === 'succeeded') return { status: 200, body: run.output };
	const message = `The workflow failed: ${run.error ?? 'nobody knows why'}`;
	throw new Problem(500, [{ type: 'exception', id: 'workflowFailedException', message }]);
}
