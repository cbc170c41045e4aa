import type { FastifyInstance } from 'fastify';
import { bodyValidator } from '../api/validation.mts';
import { rulesSchema } from '../faults/rules.mts';
import { settingsSchema } from '../state/settings.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { registerTables } from './tables.mts';
import { registerLivePage } from './livePage.mts';
import { registerTokens } from './tokens.mts';
import { registerWorkflows } from './workflows.mts';

/** The administration API under `/sandbox`, a path that the platform does not use; docs/sandbox.md. */
export function registerAdministration(
	server: FastifyInstance,
	state: SandboxState,
	seed: () => void,
): void {
	const checkSettings = bodyValidator(settingsSchema);
	const checkRules = bodyValidator(rulesSchema);

	server.register(async (admin) => {
		admin.addHook('onResponse', async ({ method }) => {
			if (method !== 'GET') state.notifyChange();
		});

		admin.get('/sandbox/health', () => ({ status: 'ok' }));
		admin.post('/sandbox/reset', (_request, reply) => {
			seed();
			return reply.status(204).send();
		});

		admin.get('/sandbox/settings', () => ({ data: state.storedSettings }));
		admin.put('/sandbox/settings', (request) => ({
			data: state.updateSettings(checkSettings(request.body)),
		}));

		admin.get('/sandbox/faults', () => ({ data: state.faults.all() }));
		admin.put('/sandbox/faults', (request) => {
			state.faults.replace(checkRules(request.body));
			return { data: state.faults.all() };
		});
		admin.delete('/sandbox/faults', (_request, reply) => {
			state.faults.replace([]);
			return reply.status(204).send();
		});

		admin.get('/sandbox/requests', () => ({ data: state.requestLog.all() }));
		admin.delete('/sandbox/requests', (_request, reply) => {
			state.requestLog.clear();
			return reply.status(204).send();
		});

		admin.post('/sandbox/lateValues', (_request, reply) => {
			state.lateValues.storeAll();
			return reply.status(204).send();
		});

		registerTables(admin, state);
		registerTokens(admin, state);
		registerWorkflows(admin, state);
		registerLivePage(admin, state);
	});
}
