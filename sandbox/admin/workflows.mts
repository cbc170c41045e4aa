import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyCheck } from '../api/validation.mts';
import { findApp, findTable } from '../catalog/find.mts';
import type { Form, JsonObject, Workflow } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import { describedRun } from '../workflows/engine.mts';
import type { World } from '../state/sandboxState.mts';
import { newFormSchema, newWorkflowSchema, type NewForm, type NewWorkflow } from './schemas.mts';

interface ById {
	Params: { id: string };
}

/** /sandbox/workflows, /sandbox/runs and /sandbox/forms; docs/sandbox.md. */
export function registerWorkflows(server: FastifyInstance, world: World): void {
	const checkWorkflow = bodyCheck<NewWorkflow>(newWorkflowSchema);
	const checkForm = bodyCheck<NewForm>(newFormSchema);

	server.get('/sandbox/workflows', (request) => ({
		data: world.workflows.all().map((entry) => described(world, request, entry)),
	}));
	server.post('/sandbox/workflows', (request, reply) => {
		const id = randomUUID();
		const workflow = {
			id,
			trigger: randomBytes(24).toString('hex'),
			...configured(world, checkWorkflow(request.body)),
		};
		world.workflows.put(workflow);
		void reply.status(201);
		return { data: described(world, request, workflow) };
	});
	server.put<ById>('/sandbox/workflows/:id', (request) => {
		const { id, trigger } = workflowOf(world, request.params.id);
		const workflow = { id, trigger, ...configured(world, checkWorkflow(request.body)) };
		world.workflows.put(workflow);
		return { data: described(world, request, workflow) };
	});
	server.delete<ById>('/sandbox/workflows/:id', (request, reply) => {
		world.workflows.remove(workflowOf(world, request.params.id).id);
		return reply.status(204).send();
	});

	server.get<{ Querystring: { workflow?: string } }>('/sandbox/runs', (request) => ({
		data: world.runs
			.all()
			.filter((run) => !request.query.workflow || run.workflowId === request.query.workflow)
			.map((run) => describedRun(world, run)),
	}));
	server.delete('/sandbox/runs', (_request, reply) => {
		world.runs.clear();
		return reply.status(204).send();
	});

	server.get('/sandbox/forms', (request) => ({
		data: world.forms.all().map((form) => describedForm(world, request, form)),
	}));
	server.post('/sandbox/forms', (request, reply) => {
		const form = formFrom(world, checkForm(request.body));
		world.forms.put(form);
		void reply.status(201);
		return { data: describedForm(world, request, form) };
	});
}

function configured(world: World, input: NewWorkflow): Omit<Workflow, 'id' | 'trigger'> {
	const { name, script, runAs = 'me', answer = 'accepted', timeLimitMs = 5000 } = input;
	const users = world.users.all();
	const user = users.find((entry) => entry.email === (input.configuredBy ?? users[0]?.email));
	if (!user) throw invalid(`There is no user '${input.configuredBy}'.`);
	const token = world.tokens.all().find((entry) => entry.name === input.token);
	if (runAs === 'token' && !token) throw invalid('Run As token needs the name of a token.');
	return {
		name,
		script,
		runAs,
		answer,
		timeLimitMs,
		configuredBy: user.id,
		...(token ? { tokenId: token.id } : {}),
	};
}

function workflowOf(world: World, id: string): Workflow {
	const workflow = world.workflows.get(id);
	if (!workflow) throw notFound(`There is no workflow '${id}'.`);
	return workflow;
}

function described(world: World, request: FastifyRequest, workflow: Workflow): JsonObject {
	const { id, name, trigger, runAs, answer, timeLimitMs, script } = workflow;
	return {
		id,
		name,
		webhookUrl: `${originOf(request)}/webhooks/${trigger}`,
		runAs,
		configuredBy: world.users.get(workflow.configuredBy)?.email ?? null,
		token: world.tokens.get(workflow.tokenId ?? '')?.name ?? null,
		answer,
		timeLimitMs,
		script,
	};
}

function formFrom(world: World, input: NewForm): Form {
	const table = findTable(world, input.table, findApp(world, input.app));
	const token = world.tokens.all().find((entry) => entry.name === (input.token ?? 'form'));
	if (token?.type !== 'form') throw invalid('A form needs the name of a token of type form.');
	const unknown = input.fields.find((name) => !table.fields.some((field) => field.name === name));
	if (unknown) throw invalid(`Table '${table.internalName}' has no field '${unknown}'.`);
	const id = randomBytes(8).toString('hex');
	return { id, name: input.name, tableId: table.id, tokenId: token.id, fields: input.fields };
}

function describedForm(world: World, request: FastifyRequest, form: Form): JsonObject {
	// A public form's token is in its public address: that is what it is for.
	const value = world.tokens.get(form.tokenId)?.value ?? '';
	const { id, name, fields } = form;
	return { id, name, fields, url: `${originOf(request)}/forms/${id}?token=${value}` };
}

function originOf(request: FastifyRequest): string {
	return `${request.protocol}://${request.host}`;
}
