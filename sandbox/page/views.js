/**
 * @import { Column, Get, PageFile, PageRecord, PageRequest, PageRun, PageTable, PageToken, PageWorkflow, View, ViewInput } from './api.mts'
 */
import { platformView } from './platform.js';
import { element, grid, list, pages, pageSize, plainGrid, quiet, row, sortable } from './lists.js';

/**
 * When the page last read each table's records, to highlight those that have changed since.
 *
 * @type {Map<string, number>}
 */
const readAt = new Map();

/**
 * Views by section.
 *
 * @type {Record<string, (input: ViewInput) => Promise<View>>}
 */
export const views = {
	async records(input) {
		const [app = '', name = '', id] = input.rest;
		const table = input.tables.find((entry) => entry.app === app && entry.table === name);
		if (!table) return missing();
		return id ? await record(input, table, id) : await records(input, table);
	},

	async platform({ get, send }) {
		return platformView(await get('variants'), send);
	},

	async files(input) {
		/** @type {Array<Column<PageFile>>} */
		const columns = [
			{
				header: 'Preview',
				value: () => '',
				cell: ({ id, picture }) =>
					picture
						? element('img', { src: `/sandbox/files/${id}/thumbnail`, alt: '', loading: 'lazy' })
						: '',
			},
			{
				header: 'Name',
				value: ({ name }) => name,
				cell: ({ id, name }) =>
					element('a', { href: `/sandbox/files/${id}`, id: `file-${id}` }, name),
			},
			{
				header: 'Size',
				value: ({ size }) => size,
				cell: ({ size }) => `${size.toLocaleString('en')} bytes`,
			},
			{ header: 'Type', value: ({ mimetype }) => mimetype },
			{ header: 'Table', value: ({ table }) => table },
		];
		const empty =
			'No files yet. In n8n, run the example "Invoices onto records", or choose Data Platform, ' +
			'Upload attachments.';
		return list(input, 'Files', columns, await input.get('files'), empty);
	},

	async tokens(input) {
		const values = await input.get('demo-tokens');
		/** @type {Array<Column<PageToken>>} */
		const columns = [
			{ header: 'Name', value: ({ name }) => name },
			{ header: 'Token type', value: ({ type }) => tokenTypes[type] ?? type },
			{
				header: 'Token',
				value: () => '',
				cell: ({ name, value }) =>
					copyable(`token-${name}`, values[name]) ?? element('code', {}, value),
			},
			{ header: 'Role', value: ({ role }) => role ?? '' },
			{
				header: 'Status',
				value: ({ status, valid }) =>
					valid ? 'Valid' : status === 'revoked' ? 'Revoked' : 'Expired',
				cell: ({ status, valid }) =>
					mark(valid, 'Valid', status === 'revoked' ? 'Revoked' : 'Expired'),
			},
			{ header: 'Created by', value: ({ createdBy }) => createdBy ?? '' },
			{ header: 'Created on', value: ({ createdOn }) => time(createdOn) },
			{ header: 'Expires', value: ({ validTo }) => (validTo ? time(validTo) : 'Never') },
			{ header: 'Badge', value: ({ templates }) => (templates ? 'TEMPLATES' : '') },
		];
		const note = quiet(
			'For the credential in n8n: Base URL, Token Type and Token. These tokens are public: every ' +
				'sandbox has the same. Tokens that you add are shown once, in the response that creates them.',
		);
		const empty = 'No tokens. Create one with POST /sandbox/tokens.';
		return list(input, 'Tokens', columns, await input.get('tokens'), empty, [note, baseUrl()]);
	},

	async workflows(input) {
		/** @type {Array<Column<PageWorkflow>>} */
		const columns = [
			{ header: 'Name', value: ({ name }) => name },
			{ header: 'Run As', value: runAs },
			{
				header: 'Use this link after save',
				value: () => '',
				cell: ({ id, webhookUrl }) => copyable(`url-${id}`, webhookUrl) ?? '',
			},
			{
				header: 'Script',
				value: ({ script }) => script,
				cell: ({ id, script }) => fold(`script-${id}`, 'Script', script),
			},
		];
		const note = quiet(
			'In n8n, choose Data Platform, Trigger workflow, and paste the link into Webhook URL.',
		);
		const empty = 'No workflows. Create one with POST /sandbox/workflows.';
		return list(input, 'Workflows', columns, await input.get('workflows'), empty, [note]);
	},

	async runs(input) {
		/** @type {Array<Column<PageRun>>} */
		const columns = [
			{ header: 'Started', value: ({ startedAt }) => time(startedAt) },
			{ header: 'Workflow', value: ({ workflow }) => workflow ?? 'Deleted' },
			{
				header: 'Status',
				value: ({ status }) => status,
				cell: ({ status }) =>
					status === 'running' ? status : mark(status === 'succeeded', status, status),
			},
			{
				header: 'Duration',
				value: ({ durationMs }) => durationMs ?? '',
				cell: ({ durationMs }) => milliseconds(durationMs),
			},
			{ header: 'Acted as', value: ({ actedAs }) => actedAs ?? '' },
			{
				header: 'Payload',
				value: ({ payload }) => JSON.stringify(payload),
				cell: ({ id, payload }) =>
					fold(`payload-${id}`, 'Payload', JSON.stringify(payload, null, 2)),
			},
			{
				header: 'Outcome',
				value: outcome,
				cell: (run) => fold(`output-${run.id}`, 'Outcome', outcome(run)),
			},
			{ header: 'Run ID', value: ({ id }) => id },
		];
		const empty =
			'No workflow has run yet. In n8n, run the example "Event starts a platform workflow", or ' +
			'copy a link under Workflows and use it in Data Platform, Trigger workflow.';
		const runs = (await input.get('runs')).reverse();
		return list(input, 'Workflow runs', columns, runs, empty);
	},

	async requests(input) {
		/** @type {Array<Column<PageRequest>>} */
		const columns = [
			{ header: 'No.', value: ({ number }) => number },
			{
				header: 'Status',
				value: ({ status, outcome }) => status ?? outcome,
				cell: ({ status, outcome, reasons }) =>
					status === null
						? mark(outcome === 'running', outcome, outcome)
						: mark(status < 400 && reasons.length === 0, String(status), String(status)),
			},
			{ header: 'Method', value: ({ method }) => method },
			{
				header: 'Path',
				value: ({ path, query }) => path + (query ? `?${decodeURIComponent(query)}` : ''),
			},
			{
				header: 'Why',
				value: ({ reasons, faults }) => [...faults.map(faultText), ...reasons].join('; '),
				cell: why,
			},
			{
				header: 'Body and response',
				value: ({ bodyBytes }) => bodyBytes,
				cell: (entry) => exchange(input.get, entry),
			},
			{ header: 'Received', value: ({ startedAt }) => time(startedAt) },
			{ header: 'Token', value: ({ token }) => token ?? 'None' },
			{ header: 'Records', value: ({ records }) => records ?? '' },
			{
				header: 'Took',
				value: ({ milliseconds }) => milliseconds ?? '',
				cell: (entry) => milliseconds(entry.milliseconds),
			},
		];
		const empty =
			'No requests yet. In n8n, create a credential Data Platform API with the base URL and a ' +
			'token from Tokens, and run a node.';
		const log = (await input.get('requests')).reverse();
		return list(input, 'Requests and faults', columns, log, empty);
	},
};

/** @returns {View} */
export function missing() {
	return { title: 'Not found', nodes: [element('p', {}, 'Choose a section.')] };
}

/** The names in n8n's credential. */
const tokenTypes = {
	role: 'API Token With Role',
	jwt: 'Standard JWT Token',
	short: 'Short API Token',
	workflow: 'Workflow Execution Token',
	form: 'Public Form Token',
};

/** Types that are part of a table's definition but never of its data. */
const displayOnly = ['buttonform', 'freehtmlinput'];

/** @param {PageTable} table */
const shownFields = ({ fields }) => fields.filter(({ type }) => !displayOnly.includes(type));

/** @param {PageTable} table @returns {`tables/${string}`} */
const pathOf = ({ app, table }) => `tables/${encodeURIComponent(app)}/${encodeURIComponent(table)}`;

/**
 * The records of a table, latest first. The sandbox searches and sorts, because the page reads only
 * some.
 *
 * @param {ViewInput} input
 * @param {PageTable} table
 * @returns {Promise<View>}
 */
async function records({ get, search, sort, onSort, ...paging }, table) {
	const key = `${table.app}/${table.table}`;
	const order = sort ?? { by: 'modified', descending: true };
	const query = new URLSearchParams({
		limit: String(pageSize),
		skip: String(paging.page * pageSize),
		sort: order.by + (order.descending ? '(desc)' : ''),
		search,
	});
	const isFresh = changedSince(key);
	const found = await get(`${pathOf(table)}/latest?${query}`);
	/** @type {Array<Column<PageRecord> & { by: string | undefined }>} */
	const columns = [
		{
			header: 'Record',
			by: undefined,
			value: () => '',
			cell: ({ id }) => element('a', { href: `#/records/${key}/${id}`, id: `r-${id}` }, 'Open'),
		},
		{ header: 'Modified', by: 'modified', value: ({ modified }) => time(modified) },
		{ header: 'Version', by: 'ver', value: ({ ver }) => ver },
		...shownFields(table).map(({ name, header, sortable }) => ({
			header,
			by: sortable ? name : undefined,
			value: (/** @type {PageRecord} */ { fields }) => text(fields[name]),
		})),
	];
	const headers = columns.map(({ header, by }) => sortable(header, by, order, onSort));
	const note = quiet(
		`${found.count.toLocaleString('en')} records. ` +
			`In n8n: Application ${table.appName}, Table ${table.header}.`,
	);
	const empty = search
		? 'No record contains this text.'
		: 'No records yet. In n8n, run an example that writes them, or choose Data Platform, ' +
			`Create records (bulk insert), Application ${table.appName}, Table ${table.header}.`;
	const rows = found.records.map((one) => row(columns, one, isFresh(one)));
	return {
		title: table.header,
		nodes: [note, ...pages(paging, found.count), grid(headers, rows, empty)],
		searchable: true,
	};
}

/**
 * Finds the records that have changed since the table was last shown.
 *
 * @param {string} key of the table
 * @returns {(record: PageRecord) => boolean}
 */
function changedSince(key) {
	const before = readAt.get(key) ?? Infinity;
	readAt.set(key, Date.now());
	return ({ modified }) => Date.parse(modified) >= before;
}

/**
 * One record: its fields with their names as in the editor and in the API, and its versions.
 *
 * @param {ViewInput} input
 * @param {PageTable} table
 * @param {string} id
 * @returns {Promise<View>}
 */
async function record({ get }, table, id) {
	const path = pathOf(table);
	const fields = shownFields(table);
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
			plainGrid(['Field', 'Name in the API', 'Type', 'Value'], values, ''),
			element('h3', {}, 'Versions'),
			plainGrid(['Version', 'Written', 'Action', 'Request'], versions, 'No versions are kept.'),
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

/** How many reasons are shown at once. */
const reasonsShown = 3;

/** @param {string} name of a fault rule */
const faultText = (name) => `Fault: ${name}`;

/**
 * Why a request, or a record in it, was rejected.
 *
 * @param {PageRequest} request
 */
function why({ number, reasons, faults }) {
	const lines = [...faults.map(faultText), ...reasons];
	const text = lines.join('\n');
	const isLong = lines.length > reasonsShown;
	const shown = isLong ? fold(`why-${number}`, `${lines.length} reasons`, text) : text;
	return element('div', { className: 'bad' }, shown);
}

/**
 * Loaded when opened, and then kept: they do not change once there is a response.
 *
 * @type {Map<number, string>}
 */
const exchanges = new Map();

/**
 * The body of a request, and its response.
 *
 * @param {Get} get
 * @param {PageRequest} request
 */
function exchange(get, { number, bodyBytes, outcome }) {
	const content = element('pre', {}, exchanges.get(number) ?? 'Loading…');
	const sent = bodyBytes > 0 ? `${bodyBytes.toLocaleString('en')} bytes` : 'Response';
	const summary = element('summary', { id: `body-${number}-summary` }, sent);
	const details = element('details', { id: `body-${number}` }, summary, content);
	details.addEventListener('toggle', async () => {
		if (!details.open || exchanges.has(number)) return;
		const { body, response } = await get(`requests/${number}`);
		const text = [
			...(bodyBytes > 0 ? ['Body:', body === undefined ? 'No longer kept.' : shortened(body)] : []),
			'Response:',
			response === undefined ? 'None, not text, or no longer kept.' : shortened(parsed(response)),
		].join('\n');
		if (outcome !== 'running') exchanges.set(number, text);
		content.textContent = text;
	});
	return details;
}

/** @param {string} response @returns {unknown} */
function parsed(response) {
	try {
		return JSON.parse(response);
	} catch {
		return response;
	}
}

/**
 * JSON for reading, with files and very long lists cut.
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
 * What was copied last.
 *
 * @type {string | undefined}
 */
let copied;

/**
 * A text with a button that copies it; undefined if there is no text.
 *
 * @param {string} id
 * @param {string | undefined} content
 */
function copyable(id, content) {
	if (content === undefined) return undefined;
	const label = content === copied ? 'Copied' : 'Copy';
	const button = element('button', { id: `copy-${id}`, type: 'button', value: content }, label);
	button.setAttribute('aria-label', `Copy ${content}`);
	button.addEventListener('click', async () => {
		await navigator.clipboard.writeText(content);
		copied = content;
		// A refresh may have replaced the button.
		for (const shown of document.querySelectorAll('.copyable button')) {
			const isCopied = shown instanceof HTMLButtonElement && shown.value === copied;
			shown.textContent = isCopied ? 'Copied' : 'Copy';
		}
	});
	return element('span', { className: 'copyable' }, element('code', {}, content), button);
}

function baseUrl() {
	return element('p', {}, 'Base URL ', copyable('base-url', location.origin));
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
	// A link, with fields of its record in it or beside its metadata.
	const { id, url, created, modified, ver, fields, ...beside } = value;
	return Object.values(fields ?? beside).find((entry) => typeof entry === 'string') ?? id ?? '';
}

/** @param {number | null} duration */
function milliseconds(duration) {
	return duration === null ? '' : `${duration} ms`;
}

/** @param {string} instant */
function time(instant) {
	const date = new Date(instant);
	return `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv')}`;
}
