/**
 * Runs one workflow script in its own thread, in a context without Node's globals. Exchanges only
 * JSON text with it, so that the script never gets an object that gives access to the process.
 */
import { createContext, Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';

const { script, workflow } = workerData as { script: string; workflow: string };
const port = parentPort;
if (!port) throw new Error('This file must run as a worker.');

/** Creates `svc` inside the context; returns a function that accepts responses and the script. */
const bootstrap = `(function (post, workflowText) {
	'use strict';
	const calls = new Map();
	let latest = 0;
	const { parse, stringify } = JSON;
	const send = (name, ...args) => new Promise((resolve, reject) => {
		latest += 1;
		calls.set(latest, { resolve, reject });
		post(stringify({ kind: 'call', id: latest, name, args }));
	});
	const show = (value) => (typeof value === 'string' ? value : stringify(value) ?? String(value));
	const log = (...values) => post(stringify({ kind: 'log', line: values.map(show).join(' ') }));
	const table = (name) => ({
		list: (query) => send('list', name, query ?? {}),
		count: (query) => send('count', name, query ?? {}),
		get: (id) => send('get', name, id),
		create: (fields, options) => send('create', name, fields, options ?? {}),
		update: (id, fields, options) => send('update', name, id, fields, options ?? {}),
		delete: (id) => send('delete', name, id),
	});
	globalThis.svc = Object.freeze({
		workflow: parse(workflowText),
		table,
		log,
		sendWebhook: (url, body, headers) => send('sendWebhook', url, body ?? {}, headers ?? {}),
	});
	globalThis.console = Object.freeze({ log });
	const report = (promise) => promise.then(
		(output) => post(stringify({ kind: 'done', output: output ?? null })),
		(error) => post(stringify({ kind: 'failed', error: String(error?.message ?? error) })),
	);
	const respond = (text) => {
		const { id, error, value } = parse(text);
		const call = calls.get(id);
		calls.delete(id);
		if (error === undefined) call?.resolve(value);
		else call?.reject(new Error(error));
	};
	return (text) => (typeof text === 'string' ? respond(text) : report(text));
})`;

const context = createContext(Object.create(null) as object, {
	codeGeneration: { strings: false, wasm: false },
});
const inside = new Script(bootstrap).runInContext(context) as (
	post: (text: string) => void,
	workflow: string,
) => (message: unknown) => void;
/** Made in the context: one of Node's own would give access to the process. */
const noImport = new Script("new Error('Scripts cannot import modules.')");
const noImportError = noImport.runInContext(context) as Error;
const receive = inside((text) => port.postMessage(text), workflow);
port.on('message', receive);

try {
	const source = `'use strict'; (async () => {\n${script}\n})()`;
	const main = new Script(source, {
		filename: 'script',
		lineOffset: -1,
		importModuleDynamically: () => {
			throw noImportError;
		},
	});
	receive(main.runInContext(context));
} catch (error) {
	port.postMessage(JSON.stringify({ kind: 'failed', error: String(error) }));
}
