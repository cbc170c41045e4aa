/**
 * Runs one workflow script, in a thread of its own and in a context that holds nothing of Node.
 * Only JSON text crosses the border in both directions, so no object of ours can be climbed up to
 * the process behind it.
 */
import { createContext, Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';

const { script, workflow } = workerData as { script: string; workflow: string };
const port = parentPort;
if (!port) throw new Error('This file is a worker.');

/** Makes `svc` inside the context; returns the function that settles its calls. */
const bootstrap = `(function (post, workflowText) {
	'use strict';
	const calls = new Map();
	let latest = 0;
	const { parse, stringify } = JSON;
	const ask = (name, ...args) => new Promise((resolve, reject) => {
		latest += 1;
		calls.set(latest, { resolve, reject });
		post(stringify({ kind: 'call', id: latest, name, args }));
	});
	const show = (value) => (typeof value === 'string' ? value : stringify(value) ?? String(value));
	const log = (...values) => post(stringify({ kind: 'log', line: values.map(show).join(' ') }));
	const table = (name) => ({
		list: (query) => ask('list', name, query ?? {}),
		count: (query) => ask('count', name, query ?? {}),
		get: (id) => ask('get', name, id),
		create: (fields, options) => ask('create', name, fields, options ?? {}),
		update: (id, fields, options) => ask('update', name, id, fields, options ?? {}),
		delete: (id) => ask('delete', name, id),
	});
	globalThis.svc = Object.freeze({
		workflow: parse(workflowText),
		table,
		log,
		sendWebhook: (url, body, headers) => ask('sendWebhook', url, body ?? {}, headers ?? {}),
	});
	globalThis.console = Object.freeze({ log });
	const tell = (promise) => promise.then(
		(output) => post(stringify({ kind: 'done', output: output ?? null })),
		(error) => post(stringify({ kind: 'failed', error: String(error?.message ?? error) })),
	);
	const settle = (text) => {
		const { id, error, value } = parse(text);
		const call = calls.get(id);
		calls.delete(id);
		if (error === undefined) call?.resolve(value);
		else call?.reject(new Error(error));
	};
	return (text) => (typeof text === 'string' ? settle(text) : tell(text));
})`;

const context = createContext(Object.create(null) as object, {
	codeGeneration: { strings: false, wasm: false },
});
const inside = new Script(bootstrap).runInContext(context) as (
	post: (text: string) => void,
	workflow: string,
) => (message: unknown) => void;
const take = inside((text) => port.postMessage(text), workflow);
port.on('message', take);

try {
	const source = `'use strict'; (async () => {\n${script}\n})()`;
	take(new Script(source, { filename: 'script', lineOffset: -1 }).runInContext(context));
} catch (error) {
	port.postMessage(JSON.stringify({ kind: 'failed', error: String(error) }));
}
