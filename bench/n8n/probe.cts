/**
 * Looks into n8n from inside: n8n's process loads it (`--require` in NODE_OPTIONS) and is not changed.
 * It notes when the event loop was blocked, and why if a CPU profile is wanted.
 *
 *   POST /start            collects garbage, forgets what it noted before
 *   POST /start?cold=1     also what our node keeps from one execution to the next
 *   POST /stop?profile=…   returns the blocks since then; with a path it writes the profile to that file
 */
const { writeFileSync } = require('node:fs') as typeof import('node:fs');
const { createServer } = require('node:http') as typeof import('node:http');
const { Session } = require('node:inspector/promises') as typeof import('node:inspector/promises');
const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
const { runInNewContext } = require('node:vm') as typeof import('node:vm');
const { isMainThread } = require('node:worker_threads') as typeof import('node:worker_threads');

/** How often to check the event loop: a block is measured up to this many milliseconds too long. */
const INTERVAL_MS = 5;
const SHORTEST_BLOCK_MS = 20;

const blocks: Array<[from: number, to: number]> = [];

function noteBlocks() {
	let before = Date.now();
	setInterval(() => {
		const now = Date.now();
		if (now - before >= SHORTEST_BLOCK_MS) blocks.push([before, now]);
		before = now;
	}, INTERVAL_MS).unref();
}

/** As in a new process. */
function forgetTables() {
	for (const [path, loaded] of Object.entries(require.cache)) {
		if (path.endsWith('api/table.js')) loaded!.exports.keptTables.clear();
	}
}

function serve(port: number) {
	// n8n was not started with this option.
	setFlagsFromString('--expose-gc');
	const collectGarbage = runInNewContext('gc') as () => void;
	const session = new Session();
	session.connect();
	const server = createServer(async ({ url }, response) => {
		const { pathname, searchParams } = new URL(url!, 'http://probe');
		const file = searchParams.get('profile');
		if (pathname === '/start') {
			collectGarbage();
			if (searchParams.has('cold')) forgetTables();
			if (file) {
				await session.post('Profiler.enable');
				await session.post('Profiler.start');
			}
			blocks.length = 0;
		}
		response.end(JSON.stringify(blocks));
		if (pathname === '/stop' && file) {
			const { profile } = await session.post('Profiler.stop');
			writeFileSync(file, JSON.stringify(profile));
		}
	});
	// Only n8n's first process can have the port.
	server.on('error', () => undefined);
	server.listen(port, '127.0.0.1').unref();
}

if (isMainThread && process.env.BENCH_PROBE_PORT) {
	noteBlocks();
	serve(Number(process.env.BENCH_PROBE_PORT));
}
