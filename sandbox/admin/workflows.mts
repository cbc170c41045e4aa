import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyValidator } from '../api/validation.mts';
import { findApp, findTable } from '../catalog/find.mts';
import type { Form, JsonObject, Workflow } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import { describeRun } from '../workflows/engine.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { newFormSchema, newWorkflowSchema, type NewForm, type NewWorkflow } from './schemas.mts';

interface ById {
	Params: { id: string };
}

/** /sandbox/workflows, /sandbox/runs and /sandbox/forms; docs/sandbox.md. */
export function registerWorkflows(server: FastifyInstance, state: SandboxState): void {
	const checkWorkflow = bodyValidator(newWorkflowSchema);
	const checkForm = bodyValidator(newFormSchema);

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

	server.get('/sandbox/forms', (request) => ({
		data: state.forms.all().map((form) => describeForm(state, request, form)),
	}));
	server.post('/sandbox/forms', (request, reply) => {
		const form = formFrom(state, checkForm(request.body));
		state.forms.put(form);
		void reply.status(201);
		return { data: describeForm(state, request, form) };
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

function formFrom(state: SandboxState, input: NewForm): Form {
	const table = findTable(state, input.table, findApp(state, input.app));
	const token = state.tokens.all().find((entry) => entry.name === (input.token ?? 'form'));
	if (token?.type !== 'form') throw invalid('A form needs the name of a token of type "form".');
	const unknown = input.fields.find((name) => !table.fields.some((field) => field.name === name));
	if (unknown) throw invalid(`Table '${table.internalName}' has no field '${unknown}'.`);
	const id = randomBytes(8).toString('hex');
	return { id, name: input.name, tableId: table.id, tokenId: token.id, fields: input.fields };
}

function describeForm(state: SandboxState, request: FastifyRequest, form: Form): JsonObject {
	// A public form's token is public: it is part of the form's URL.
	const value = state.tokens.get(form.tokenId)?.value ?? '';
	const { id, name, fields } = form;
	return { id, name, fields, url: `${originOf(request)}/forms/${id}?token=${value}` };
}

function originOf(request: FastifyRequest): string {
	return `${request.protocol}://${request.host}`;
}
