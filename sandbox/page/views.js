/**
 * @import { Cell, Get, PageRequest, PageRun, PageTable, PageWorkflow, View, ViewInput } from './api.mts'
 */

const latest = 200;

/**
 * Versions of the records that were shown before, to highlight new ones.
 *
 * @type {Map<string, Set<string>>}
 */
const seen = new Map();

/**
 * Creates an element. Children are nodes or text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} [properties]
 * @param {Cell[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties, ...children) {
	const node = Object.assign(document.createElement(tag), properties);
	node.append(...children.map((child) => (child instanceof Node ? child : String(child ?? ''))));
	return node;
}

/**
 * Views by section.
 *
 * @type {Record<string, (input: ViewInput) => Promise<View>>}
 */
export const views = {
	async records({ get, tables, rest: [app = '', name = '', id] }) {
		const table = tables.find((entry) => entry.app === app && entry.table === name);
		if (!table) return missing();
		/** @type {`tables/${string}`} */
		const path = `tables/${encodeURIComponent(app)}/${encodeURIComponent(name)}`;
		const fields = table.fields.filter(({ type }) => !displayOnly.includes(type));
		if (id) return await record({ get, table, fields, path, id });
		const records = await get(`${path}/latest?limit=${latest}`);
		const key = `${app}/${name}`;
		const before = seen.get(key);
		seen.set(key, new Set(records.map(({ id, ver }) => `${id} ${ver}`)));
		/** @type {Set<Cell[]>} */
		const fresh = new Set();
		const rows = records.map((record) => {
			const cells = fields.map((field) => text(record.fields[field.name]));
			const open = element(
				'a',
				{ href: `#/records/${key}/${record.id}`, id: `r-${record.id}` },
				'Open',
			);
			const isFresh = before !== undefined && !before.has(`${record.id} ${record.ver}`);
			const row = [open, time(record.modified), record.ver, ...cells];
			if (isFresh) fresh.add(row);
			return row;
		});
		const headers = ['', 'Modified', 'Version', ...fields.map(({ header }) => header)];
		const more = table.records > latest ? `, the latest ${latest} are shown` : '';
		const count = `${table.records.toLocaleString('en')} records${more}`;
		const note = quiet(`${count}. In n8n: Application ${table.appName}, Table ${table.header}.`);
		const empty =
			'No records yet. In n8n, run an example that writes them, or choose Data Platform, ' +
			`Create record, Application ${table.appName}, Table ${table.header}.`;
		return { title: table.header, nodes: [note, grid(headers, rows, empty, fresh)] };
	},

	async files({ get }) {
		const rows = (await get('files')).map((file) => [
			file.picture
				? element('img', { src: `/sandbox/files/${file.id}/thumbnail`, alt: '', loading: 'lazy' })
				: '',
			element('a', { href: `/sandbox/files/${file.id}`, id: `file-${file.id}` }, file.name),
			`${file.size.toLocaleString('en')} bytes`,
			file.mimetype,
			file.table,
		]);
		const empty =
			'No files yet. In n8n, run the example "Invoices onto records", or choose Data Platform, ' +
			'Upload attachment.';
		return { title: 'Files', nodes: [grid(['', 'Name', 'Size', 'Type', 'Table'], rows, empty)] };
	},

	async tokens({ get }) {
		const values = await get('demo-tokens');
		const rows = (await get('tokens')).map((token) => [
			token.name,
			tokenTypes[token.type] ?? token.type,
			copyable(`token-${token.name}`, values[token.name]) ?? element('code', {}, token.value),
			token.role ?? '',
			mark(token.valid, 'Valid', token.status === 'revoked' ? 'Revoked' : 'Expired'),
			token.createdBy,
			time(token.createdOn),
			token.validTo ? time(token.validTo) : 'Never',
			token.templates ? 'TEMPLATES' : '',
		]);
		const headers = ['Name', 'Token type', 'Token', 'Role', 'Status', 'Created by', 'Created on'];
		const note = quiet(
			'For the credential in n8n: Base URL, Token Type and Token. These tokens are public: every ' +
				'sandbox has the same. Tokens that you add are shown once, in the response that creates them.',
		);
		const empty = 'No tokens. Create one with POST /sandbox/tokens.';
		return {
			title: 'Tokens',
			nodes: [note, baseUrl(), grid([...headers, 'Expires', ''], rows, empty)],
		};
	},

	async workflows({ get }) {
		const rows = (await get('workflows')).map((workflow) => [
			workflow.name,
			runAs(workflow),
			copyable(`url-${workflow.id}`, workflow.webhookUrl),
			fold(`script-${workflow.id}`, 'Script', workflow.script),
		]);
		const headers = ['Name', 'Run As', 'Use this link after save', ''];
		const note = quiet(
			'In n8n, choose Data Platform, Trigger workflow, and paste the link into Webhook URL.',
		);
		const empty = 'No workflows. Create one with POST /sandbox/workflows.';
		return { title: 'Workflows', nodes: [note, grid(headers, rows, empty)] };
	},

	async runs({ get }) {
		const rows = (await get('runs'))
			.reverse()
			.map((run) => [
				time(run.startedAt),
				run.workflow ?? 'Deleted',
				run.status === 'running'
					? 'running'
					: mark(run.status === 'succeeded', 'succeeded', run.status),
				run.durationMs === null ? '' : `${run.durationMs} ms`,
				run.actedAs,
				fold(`payload-${run.id}`, 'Payload', JSON.stringify(run.payload, null, 2)),
				fold(`output-${run.id}`, 'Outcome', outcome(run)),
			]);
		const headers = ['Started', 'Workflow', 'Status', 'Duration', 'Acted as', '', ''];
		const empty =
			'No workflow has run yet. In n8n, run the example "Event starts a platform workflow", or ' +
			'copy a link under Workflows and use it in Data Platform, Trigger workflow.';
		return { title: 'Workflow runs', nodes: [grid(headers, rows, empty)] };
	},

	async requests({ get }) {
		const log = await get('requests');
		const rows = log
			.slice(-latest)
			.reverse()
			.map((entry) => [
				entry.number,
				time(entry.startedAt),
				entry.method,
				entry.path + (entry.query ? `?${decodeURIComponent(entry.query)}` : ''),
				entry.status === null
					? entry.outcome
					: mark(entry.status < 400, String(entry.status), String(entry.status)),
				entry.token ?? 'None',
				entry.bodyBytes > 0 ? requestBody(get, entry) : '',
				entry.records ?? '',
				entry.milliseconds === null ? '' : `${entry.milliseconds} ms`,
				entry.faults.join(', '),
			]);
		const note = quiet(
			`${log.length.toLocaleString('en')} requests` +
				(log.length > latest ? `, the latest ${latest} are shown.` : '.'),
		);
		const headers = ['No.', 'Received', 'Method', 'Path', 'Status', 'Token', 'Body', 'Records'];
		const empty =
			'No requests yet. In n8n, create a credential Data Platform API with the base URL and a ' +
			'token from Tokens, and run a node.';
		return {
			title: 'Requests',
			nodes: [note, grid([...headers, 'Took', 'Faults'], rows, empty)],
		};
	},
};

/** @returns {View} */
export function missing() {
	return { title: 'Not found', nodes: [element('p', {}, 'Choose a section.')] };
}

/** As the credential in n8n names them. */
const tokenTypes = {
	role: 'API Token With Role',
	jwt: 'Standard JWT Token',
	short: 'Short API Token',
	workflow: 'Workflow Execution Token',
	form: 'Public Form Token',
};

/** Types that are part of a table's definition and never of its data. */
const displayOnly = ['buttonform', 'freehtmlinput'];

/**
 * One record: its fields with their names as in the editor and in the API, and its versions.
 *
 * @param {{ get: Get, table: PageTable, fields: PageTable['fields'], path: `tables/${string}`, id: string }} input
 * @returns {Promise<View>}
 */
async function record({ get, table, fields, path, id }) {
	const back = element(
		'a',
		{ href: `#/records/${table.app}/${table.table}`, id: 'back' },
		`All ${table.header.toLowerCase()}`,
	);
	const found = await get(`${path}/records/${encodeURIComponent(id)}`).catch(() => undefined);
	if (!found) return { title: 'No such record', nodes: [back, quiet('It may have been deleted.')] };
	const history = await get(`${path}/history?record=${encodeURIComponent(id)}`);
	const values = fields.map(({ name, header, type }) => [
		header,
		element('code', {}, name),
		type,
		value(found.fields[name]),
	]);
	const versions = history
		.reverse()
		.map((version) => [
			version.ver,
			time(version.at),
			version.action,
			version.request === 0
				? 'Sample data'
				: element('a', { href: '#/requests' }, `No. ${version.request}`),
		]);
	const title = fields.map(({ name }) => text(found.fields[name])).find((entry) => entry !== '');
	return {
		title: title ?? id,
		nodes: [
			back,
			element('p', {}, 'Record ID ', copyable('record-id', id)),
			quiet(
				`Version ${found.ver}, modified ${time(found.modified)}, created ${time(found.created)}.`,
			),
			grid(['Field', 'Name in the API', 'Type', 'Value'], values, ''),
			element('h3', {}, 'Versions'),
			grid(['Version', 'Written', 'Action', 'Request'], versions, 'No versions are kept.'),
		],
	};
}

/**
 * A value in full.
 *
 * @param {unknown} stored
 */
function value(stored) {
	if (stored === null || stored === undefined) return '';
	if (Array.isArray(stored) && stored.length === 0) return '';
	if (typeof stored !== 'object') return String(stored);
	return element('pre', {}, JSON.stringify(stored, null, 2));
}

/**
 * Loaded when it is opened, and then kept: the body of a request does not change.
 *
 * @type {Map<number, string>}
 */
const bodies = new Map();

/**
 * @param {Get} get
 * @param {PageRequest} request
 */
function requestBody(get, { number, bodyBytes }) {
	const content = element('pre', {}, bodies.get(number) ?? 'Loading…');
	const summary = element(
		'summary',
		{ id: `body-${number}-summary` },
		`${bodyBytes.toLocaleString('en')} bytes`,
	);
	const details = element('details', { id: `body-${number}` }, summary, content);
	details.addEventListener('toggle', async () => {
		if (!details.open || bodies.has(number)) return;
		const body = await get(`requests/${number}/body`).catch(() => null);
		bodies.set(number, body === null ? 'No longer kept.' : shortened(body));
		content.textContent = bodies.get(number) ?? null;
	});
	return details;
}

/**
 * JSON to read: files and endless lists are cut.
 *
 * @param {unknown} body
 */
function shortened(body) {
	const json = JSON.stringify(
		body,
		(_key, entry) =>
			typeof entry === 'string' && entry.length > 500 ? `${entry.slice(0, 200)}…` : entry,
		2,
	);
	return json.length > 20_000 ? `${json.slice(0, 20_000)}\n…` : json;
}

/**
 * A text with a button that copies it; undefined if there is no text.
 *
 * @param {string} id
 * @param {string | undefined} content
 */
function copyable(id, content) {
	if (content === undefined) return undefined;
	const button = element('button', { id: `copy-${id}`, type: 'button' }, 'Copy');
	button.setAttribute('aria-label', `Copy ${content}`);
	button.addEventListener('click', async () => {
		await navigator.clipboard.writeText(content);
		button.textContent = 'Copied';
		setTimeout(() => (button.textContent = 'Copy'), 1500);
	});
	return element('span', { className: 'copyable' }, element('code', {}, content), button);
}

function baseUrl() {
	return element('p', {}, 'Base URL ', copyable('base-url', location.origin));
}

/** @param {string} content */
function quiet(content) {
	return element('p', { className: 'quiet' }, content);
}

/**
 * @param {string[]} headers
 * @param {Cell[][]} rows
 * @param {string} empty what stands there without rows
 * @param {ReadonlySet<Cell[]>} [fresh] the rows to highlight
 */
function grid(headers, rows, empty, fresh) {
	if (rows.length === 0) return element('p', { className: 'empty' }, empty);
	const head = element('tr', {}, ...headers.map((name) => element('th', { scope: 'col' }, name)));
	const body = rows.map((row) => {
		const cells = row.map((cell) => {
			const td = element('td', {}, cell);
			if (!(cell instanceof Node)) td.title = String(cell ?? '');
			return td;
		});
		return element('tr', { className: fresh?.has(row) ? 'fresh' : '' }, ...cells);
	});
	const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...body));
	// Focusable, so that the arrow keys scroll it.
	return element('div', { className: 'scroll', tabIndex: 0, id: 'grid' }, table);
}

/**
 * @param {string} id
 * @param {string} summary
 * @param {string} body
 */
function fold(id, summary, body) {
	return element(
		'details',
		{ id },
		element('summary', { id: `${id}-summary` }, summary),
		element('pre', {}, body),
	);
}

/**
 * @param {boolean} good
 * @param {string} yes
 * @param {string} no
 */
function mark(good, yes, no) {
	return element('span', { className: good ? 'good' : 'bad' }, good ? yes : no);
}

/** @param {PageWorkflow} workflow */
function runAs({ runAs: kind, configuredBy, token }) {
	if (kind === 'me') return `Me (${configuredBy})`;
	return kind === 'caller' ? 'Logged-in user' : `API token ${token}`;
}

/** @param {PageRun} run */
function outcome({ output, error, log }) {
	const result = error === null ? JSON.stringify(output, null, 2) : `Error: ${error}`;
	return [...log, result].join('\n');
}

/**
 * A short text for a value of any type.
 *
 * @param {any} value
 * @returns {string}
 */
function text(value) {
	if (value === undefined || value === null) return '';
	if (Array.isArray(value)) return value.map((entry) => entry?.fileName ?? text(entry)).join(', ');
	if (typeof value !== 'object') return String(value);
	if (value.amount !== undefined) return `${value.amount} ${value.currency}`;
	if (value.href) return value.href;
	if (value.count !== undefined) return `${value.count} linked`;
	if (value.progress !== undefined) return `${Math.round(value.progress * 100)} %`;
	if (value.messages) return value.messages.at(-1)?.text ?? '';
	const { id, url: _url, ...shown } = value;
	return Object.values(shown).find((entry) => typeof entry === 'string') ?? id ?? '';
}

/** @param {string} instant */
function time(instant) {
	const date = new Date(instant);
	return `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv')}`;
}
