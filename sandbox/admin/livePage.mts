import type { FastifyInstance } from 'fastify';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findApp, findTable } from '../catalog/find.mts';
import { notFound } from '../api/errors.mts';
import { RecordSerializer } from '../records/serializer.mts';
import { variants } from '../state/variants.mts';
import { demoTokens } from '../seed/access.mts';
import { thumbnailOf } from '../store/thumbnails.mts';
import type { StoredFile } from '../store/fileStore.mts';
import type { SandboxState } from '../state/sandboxState.mts';

const pageFolder = new URL('../page/', import.meta.url);
const script = 'text/javascript; charset=utf-8';
const pageFiles = {
	'/': ['index.html', 'text/html; charset=utf-8'],
	'/page/app.js': ['app.js', script],
	'/page/faults.js': ['faults.js', script],
	'/page/lists.js': ['lists.js', script],
	'/page/platform.js': ['platform.js', script],
	'/page/views.js': ['views.js', script],
	'/page/style.css': ['style.css', 'text/css; charset=utf-8'],
} as const;
const policy = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

interface ById {
	Params: { id: string };
}

/** The live page at the root, and the endpoints that only it uses; docs/sandbox.md. */
export function registerLivePage(server: FastifyInstance, state: SandboxState): void {
	for (const [path, [name, type]] of Object.entries(pageFiles)) {
		server.get(path, async (_request, reply) =>
			reply
				.type(type)
				.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
				.send(await readFile(new URL(name, pageFolder))),
		);
	}

	// Public on purpose: every sandbox has the same.
	server.get('/sandbox/demo-tokens', () => ({ data: demoTokens(state) }));
	server.get('/sandbox/variants', () => ({
		data: variants.map((variant) => ({
			...variant,
			played: state.storedSettings[variant.setting],
			isMet: state.metVariants.has(variant.setting),
		})),
	}));
	server.get<{ Params: { app: string; table: string; id: string } }>(
		'/sandbox/tables/:app/:table/records/:id',
		({ params, protocol, host }) => {
			const table = findTable(state, params.table, findApp(state, params.app));
			const record = state.records.get(table, params.id);
			if (!record) throw notFound(`There is no record '${params.id}'.`);
			return { data: new RecordSerializer(state, `${protocol}://${host}`, table).record(record) };
		},
	);
	server.get<ById>('/sandbox/requests/:id', ({ params }) => ({
		data: state.requestLog.kept(Number(params.id)),
	}));

	server.get('/sandbox/files', () => ({
		data: state.tables.all().flatMap((table) =>
			state.files
				.ofTable(table.id)
				.filter(({ id }) => state.records.mentions(table, id))
				.map(({ id, name, size, mimetype, picture }) => ({
					id,
					name,
					size,
					mimetype,
					picture,
					table: table.header,
				})),
		),
	}));
	server.get<ById>('/sandbox/files/:id', (request, reply) => {
		const file = requireFile(state, request.params.id);
		// Untrusted content on this origin: offered as a download, never displayed.
		return reply
			.headers({
				'content-type': 'application/octet-stream',
				'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
			})
			.send(createReadStream(state.files.path(file.hash)));
	});
	server.get<ById>('/sandbox/files/:id/thumbnail', async (request, reply) => {
		const thumbnail = await thumbnailOf(state.files, requireFile(state, request.params.id));
		if (!thumbnail) throw notFound('This file has no thumbnail.');
		return reply.type('image/webp').send(thumbnail);
	});

	server.get('/sandbox/events', (request, reply) => {
		reply.hijack();
		reply.raw.writeHead(200, {
			'content-type': 'text/event-stream',
			'cache-control': 'no-cache',
		});
		reply.raw.write('data: hello\n\n');
		const stop = state.onChange(() => reply.raw.write('data: change\n\n'));
		request.raw.socket.once('close', stop);
	});
}

function requireFile(state: SandboxState, id: string): StoredFile {
	const file = state.files.get(id);
	if (!file) throw notFound(`There is no file '${id}'.`);
	findTable(state, file.tableId);
	return file;
}
