import type { FastifyInstance } from 'fastify';
import { bodyCheck } from '../api/validation.mts';
import { rulesSchema, type FaultRule } from '../faults/rules.mts';
import { settingsSchema, type Settings } from '../state/settings.mts';
import type { World } from '../state/sandboxState.mts';
import { demandLocal } from './guard.mts';
import { registerTables } from './tables.mts';
import { registerPage } from './livePage.mts';
import { registerTokens } from './tokens.mts';
import { registerWorkflows } from './workflows.mts';

/** The sandbox's own addresses, under a path that is not the platform's; docs/sandbox.md. */
export function registerAdministration(
	server: FastifyInstance,
	world: World,
	seed: () => void,
): void {
	const checkSettings = bodyCheck<Partial<Settings>>(settingsSchema);
	const checkRules = bodyCheck<FaultRule[]>(rulesSchema);

	server.register(async (admin) => {
		admin.addHook('onRequest', async (request) => demandLocal(request));

		admin.get('/sandbox/health', () => ({ status: 'ok' }));
		admin.post('/sandbox/reset', (_request, reply) => {
			seed();
			return reply.status(204).send();
		});

		admin.get('/sandbox/settings', () => ({ data: world.settings }));
		admin.put('/sandbox/settings', (request) => ({
			data: world.change(checkSettings(request.body)),
		}));

		admin.get('/sandbox/faults', () => ({ data: world.faults.all() }));
		admin.put('/sandbox/faults', (request) => {
			world.faults.replace(checkRules(request.body));
			return { data: world.faults.all() };
		});
		admin.delete('/sandbox/faults', (_request, reply) => {
			world.faults.replace([]);
			return reply.status(204).send();
		});

		admin.get('/sandbox/requests', () => ({ data: world.journal.all() }));
		admin.delete('/sandbox/requests', (_request, reply) => {
			world.journal.clear();
			return reply.status(204).send();
		});

		registerTables(admin, world);
		registerTokens(admin, world);
		registerWorkflows(admin, world);
		registerPage(admin, world);
	});
}
