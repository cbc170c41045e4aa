/**
 * The compose file for users. There is no Docker here to start it, so it is read: it must set the
 * same as the tests of queue mode, and its image must install the package where n8n looks for it.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { makeUserFolder } from '../../../harness/n8nProcess.mts';
import { buildPackage, packPackage, ROOT } from '../../../harness/nodePackage.mts';
import { runCommand } from '../../../harness/processes.mts';
import { queueVariables } from '../../../harness/queueEnvironment.mts';
import { startStubServer } from '../../support/stubServer.mts';

const FOLDER = join(ROOT, 'examples', 'queue-mode');

interface Service {
	image?: string;
	build?: string;
	command?: string[];
	environment?: Record<string, string>;
	deploy?: { replicas: number };
	depends_on?: Record<string, { condition: string }>;
	volumes?: string[];
	healthcheck?: { test: string[] };
}

interface Compose {
	services: Record<string, Service>;
	volumes: Record<string, unknown>;
}

const text = await readFile(join(FOLDER, 'compose.yaml'), 'utf8');
const dockerfile = await readFile(join(FOLDER, 'Dockerfile'), 'utf8');
const { services, volumes } = parse(text, { merge: true }) as Compose;
const { main, worker, postgres, redis } = services as Record<'main' | 'worker' | 'postgres' | 'redis', Service>;

/** How compose writes a variable that must be set, in n8n's environment. */
const given = (name: string) => `\${${name}:?set it in .env}`;

test('main and workers have the environment that the tests run with', () => {
	const expected = queueVariables({
		redis: { host: 'redis', port: 6379 },
		postgres: { host: 'postgres', port: 5432, database: 'n8n', user: 'n8n', password: given('POSTGRES_PASSWORD') },
		encryptionKey: given('N8N_ENCRYPTION_KEY'),
	});
	assert.deepEqual(main.environment, expected);
	assert.deepEqual(worker.environment, { ...expected, QUEUE_HEALTH_CHECK_ACTIVE: 'true' });
	assert.deepEqual(postgres.environment, {
		POSTGRES_DB: expected.DB_POSTGRESDB_DATABASE,
		POSTGRES_USER: expected.DB_POSTGRESDB_USER,
		POSTGRES_PASSWORD: expected.DB_POSTGRESDB_PASSWORD,
	});
	// Compose rejects values that are not text, such as `true` or a bare number.
	for (const { environment = {} } of Object.values(services)) {
		for (const value of Object.values(environment)) assert.equal(typeof value, 'string');
	}
});

test('it is one main and two workers of one image, and the rest is there for them', () => {
	assert.deepEqual(Object.keys(services).sort(), ['main', 'postgres', 'redis', 'worker']);
	assert.deepEqual(main.build, worker.build);
	assert.equal(main.command?.[0], 'start');
	assert.equal(worker.command?.[0], 'worker');
	assert.equal(worker.deploy?.replicas, 2);
	for (const service of Object.values(services)) {
		for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
			assert.equal(condition, 'service_healthy');
			assert.ok(services[name]?.healthcheck, name);
		}
	}
	const mounted = [postgres, redis].flatMap((service) => service.volumes ?? []);
	assert.deepEqual(
		mounted.map((volume) => volume.split(':')[0]),
		Object.keys(volumes),
	);
	// Compose stops with a message if one of these variables is not set.
	const variables = [...text.matchAll(/\$\{(\w+)(:[-?])?/g)].map(([, name, kind]) => name! + kind!);
	assert.deepEqual([...new Set(variables)].sort(), ['N8N_ENCRYPTION_KEY:?', 'POSTGRES_PASSWORD:?']);
});

test('the health check of main and workers is code that runs', async () => {
	assert.deepEqual(main.healthcheck, worker.healthcheck);
	const [kind, command, flag, code] = main.healthcheck?.test ?? [];
	assert.deepEqual([kind, command, flag], ['CMD', 'node', '-e']);
	assert.match(code!, /127\.0\.0\.1:5678\/healthz\/readiness/);
	let status = 200;
	const server = await startStubServer(() => ({ status }));
	const { port } = server;
	const check = async () => {
		const here = code!.replace('5678', String(port));
		const { code: exit, output } = await runCommand(process.execPath, ['-e', here]);
		return [exit, output];
	};
	assert.deepEqual(await check(), [0, '']);
	status = 503;
	assert.deepEqual(await check(), [1, '']);
	await server.stop();
	assert.deepEqual(await check(), [1, '']);
});

test('the image is of the pinned n8n, and has the package where n8n looks for it', async () => {
	const pinned = JSON.parse(await readFile(join(ROOT, 'harness', 'n8n', 'package.json'), 'utf8')) as { dependencies: { n8n: string } };
	assert.match(dockerfile, new RegExp(`^FROM \\S+/n8n:${pinned.dependencies.n8n}$`, 'm'));
	const { name } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { name: string };

	const home = await makeUserFolder();
	const source = join(home, 'source');
	await buildPackage();
	await packPackage(source);
	const [, line = ''] = /^RUN (.*)$/m.exec(dockerfile) ?? [];
	const here = line.replaceAll('/tmp/package', source).replaceAll('/home/node', home);
	assert.notEqual(here, line);
	const { code, output } = await runCommand('/bin/sh', ['-c', here]);
	assert.equal(code, 0, output);
	const installed = join(home, '.n8n', 'nodes', 'node_modules', name);
	assert.ok(existsSync(join(installed, 'dist', 'nodes', 'DataPlatform', 'DataPlatform.node.js')), output);
});
