import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyValidator } from '../api/validation.mts';
import type { JsonObject, Workflow } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import { describeRun } from '../workflows/engine.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { newWorkflowSchema, type NewWorkflow } from './schemas.mts';

interface ById {
	Params: { id: string };
}

/** /sandbox/workflows and /sandbox/runs; docs/sandbox.md. */
export function registerWorkflows(server: FastifyInstance, state: SandboxState): void {
	const checkWorkflow = bodyValidator(newWorkflowSchema);

	server.get('/sandbox/workflows', (request) => ({
		data: state.workflows.all().map((entry) => describeWorkflow(state, request, entry)),
	}));
	server.post('/sandbox/workflows', (request, reply) => {
		const id = randomUUID();
		const workflow = {
			id,
			trigger: randomBytes(24).toString('hex'),
			...workflowFrom(state, checkWorkflow(request.body)),
		};
		state.workflows.put(workflow);
		void reply.status(201);
		return { data: describeWorkflow(state, request, workflow) };
	});
	server.put<ById>('/sandbox/workflows/:id', (request) => {
		const { id, trigger } = requireWorkflow(state, request.params.id);
		const workflow = { id, trigger, ...workflowFrom(state, checkWorkflow(request.body)) };
		state.workflows.put(workflow);
		return { data: describeWorkflow(state, request, workflow) };
	});
	server.delete<ById>('/sandbox/workflows/:id', (request, reply) => {
		state.workflows.remove(requireWorkflow(state, request.params.id).id);
		return reply.status(204).send();
	});

	server.get<{ Querystring: { workflow?: string } }>('/sandbox/runs', (request) => ({
		data: state.runs
			.all()
			.filter((run) => !request.query.workflow || run.workflowId === request.query.workflow)
			.map((run) => describeRun(state, run)),
	}));
	server.delete('/sandbox/runs', (_request, reply) => {
		state.runs.clear();
		return reply.status(204).send();
	});
}

function workflowFrom(state: SandboxState, input: NewWorkflow): Omit<Workflow, 'id' | 'trigger'> {
	const { name, script, runAs = 'me', response = 'accepted', timeLimitMs = 5000 } = input;
	const users = state.users.all();
	const user = users.find((entry) => entry.email === (input.configuredBy ?? users[0]?.email));
	if (!user) throw invalid(`There is no user '${input.configuredBy}'.`);
	const token = state.tokens.all().find((entry) => entry.name === input.token);
	if (runAs === 'token' && !token) throw invalid('runAs "token" needs the name of a token.');
	return {
		name,
		script,
		runAs,
		response,
		timeLimitMs,
		configuredBy: user.id,
		...(token ? { tokenId: token.id } : {}),
	};
}

function requireWorkflow(state: SandboxState, id: string): Workflow {
	const workflow = state.workflows.get(id);
	if (!workflow) throw notFound(`There is no workflow '${id}'.`);
	return workflow;
}

function describeWorkflow(
	state: SandboxState,
	request: FastifyRequest,
	workflow: Workflow,
): JsonObject {
	const { id, name, trigger, runAs, response, timeLimitMs, script } = workflow;
	return {
		id,
		name,
		webhookUrl: `${originOf(request)}/webhooks/${trigger}`,
		runAs,
		configuredBy: state.users.get(workflow.configuredBy)?.email ?? null,
		token: state.tokens.get(workflow.tokenId ?? '')?.name ?? null,
		response,
		timeLimitMs,
		script,
	};
}

function originOf(request: FastifyRequest): string {
	return `${request.protocol}://${request.host}`;
}
