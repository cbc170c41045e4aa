import type { FastifyInstance } from 'fastify';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findTable } from '../catalog/find.mts';
import { notFound } from '../api/errors.mts';
import { thumbnailOf } from '../store/thumbnails.mts';
import type { StoredFile } from '../store/fileStore.mts';
import type { World } from '../state/sandboxState.mts';

const pageFolder = new URL('../page/', import.meta.url);
const pageFiles = {
	'/': ['index.html', 'text/html; charset=utf-8'],
	'/page/app.js': ['app.js', 'text/javascript; charset=utf-8'],
	'/page/views.js': ['views.js', 'text/javascript; charset=utf-8'],
	'/page/style.css': ['style.css', 'text/css; charset=utf-8'],
} as const;
const policy = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

interface ById {
	Params: { id: string };
}

/** The live page at the root, and what it alone needs; docs/sandbox.md. */
export function registerPage(server: FastifyInstance, world: World): void {
	for (const [path, [name, type]] of Object.entries(pageFiles)) {
		server.get(path, async (_request, reply) =>
			reply
				.type(type)
				.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
				.send(await readFile(new URL(name, pageFolder))),
		);
	}

	server.get('/sandbox/files', () => ({
		data: world.tables.all().flatMap((table) =>
			world.files
				.ofTable(table.id)
				.filter(({ id }) => world.records.holds(table, id))
				.map(({ id, name, size, mimetype, picture }) => ({
					id,
					name,
					size,
					mimetype,
					picture,
					table: table.internalName,
				})),
		),
	}));
	server.get<ById>('/sandbox/files/:id', (request, reply) => {
		const file = fileOf(world, request.params.id);
		// Somebody else's content on our own origin: never shown, only saved.
		return reply
			.headers({
				'content-type': 'application/octet-stream',
				'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
			})
			.send(createReadStream(world.files.path(file.hash)));
	});
	server.get<ById>('/sandbox/files/:id/thumbnail', async (request, reply) => {
		const thumbnail = await thumbnailOf(world.files, fileOf(world, request.params.id));
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
		const stop = world.watch(() => reply.raw.write('data: change\n\n'));
		request.raw.socket.once('close', stop);
	});
}

function fileOf(world: World, id: string): StoredFile {
	const file = world.files.get(id);
	if (!file) throw notFound(`There is no file '${id}'.`);
	findTable(world, file.tableId);
	return file;
}
