const latest = 200;

/** Versions of the records that were shown before, to highlight new ones. */
const seen = new Map();

/** Creates an element. Children are nodes or text, never markup. */
export function element(tag, properties = {}, ...children) {
	const node = Object.assign(document.createElement(tag), properties);
	node.append(...children.map((child) => (child instanceof Node ? child : String(child ?? ''))));
	return node;
}

/** Views by section; each returns a title and nodes. */
export const views = {
	async records({ get, tables, rest: [app, name] }) {
		const table = tables.find((entry) => entry.app === app && entry.table === name);
		if (!table) return views.missing();
		const path = `tables/${encodeURIComponent(app)}/${encodeURIComponent(name)}/latest`;
		const records = await get(`${path}?limit=${latest}`);
		const fields = table.fields.filter(({ type }) => !displayOnly.includes(type));
		const key = `${app}/${name}`;
		const before = seen.get(key);
		seen.set(key, new Set(records.map(({ id, ver }) => `${id} ${ver}`)));
		const rows = records.map((record) => {
			const cells = fields.map((field) => text(record.fields[field.name]));
			const row = [time(record.modified), record.ver, ...cells];
			row.fresh = before && !before.has(`${record.id} ${record.ver}`);
			return row;
		});
		const headers = ['Modified', 'Ver', ...fields.map(({ header }) => header)];
		const more = table.records > latest ? `, the latest ${latest} are shown` : '';
		const note = element('p', { className: 'quiet' }, `${table.records} records${more}`);
		return { title: `${table.header}`, nodes: [note, grid(headers, rows)] };
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
		return { title: 'Files', nodes: [grid(['', 'Name', 'Size', 'Type', 'Table'], rows)] };
	},

	async tokens({ get }) {
		const rows = (await get('tokens')).map((token) => [
			token.name,
			token.type,
			element('code', {}, token.value),
			token.role ?? '',
			token.createdBy,
			time(token.createdOn),
			mark(token.valid, 'valid', token.status === 'revoked' ? 'revoked' : 'expired'),
			token.validTo ? time(token.validTo) : 'never',
			token.templates ? 'TEMPLATES' : '',
		]);
		const headers = ['Name', 'Type', 'Value', 'Role', 'Created by', 'Created on', 'Status'];
		return { title: 'Tokens', nodes: [grid([...headers, 'Valid to', ''], rows)] };
	},

	async workflows({ get }) {
		const rows = (await get('workflows')).map((workflow) => [
			workflow.name,
			runAs(workflow),
			element('code', {}, workflow.webhookUrl),
			fold(`script-${workflow.id}`, 'Script', workflow.script),
		]);
		const headers = ['Name', 'Run As', 'Use this link after save', ''];
		return { title: 'Workflows', nodes: [grid(headers, rows)] };
	},

	async runs({ get }) {
		const rows = (await get('runs'))
			.reverse()
			.map((run) => [
				time(run.startedAt),
				run.workflow ?? 'deleted',
				run.status === 'running'
					? 'running'
					: mark(run.status === 'succeeded', 'succeeded', run.status),
				run.durationMs === null ? '' : `${run.durationMs} ms`,
				run.actedAs,
				fold(`payload-${run.id}`, 'Payload', JSON.stringify(run.payload, null, 2)),
				fold(`output-${run.id}`, 'Outcome', outcome(run)),
			]);
		const headers = ['Started', 'Workflow', 'Status', 'Duration', 'Acted as', '', ''];
		return { title: 'Workflow runs', nodes: [grid(headers, rows)] };
	},

	async requests({ get }) {
		const log = await get('requests');
		const rows = log
			.slice(-latest)
			.reverse()
			.map((entry) => [
				entry.number,
				entry.method,
				entry.path + (entry.query ? `?${decodeURIComponent(entry.query)}` : ''),
				entry.status === null
					? entry.outcome
					: mark(entry.status < 400, String(entry.status), String(entry.status)),
				entry.token ?? 'none',
				entry.records ?? '',
				entry.milliseconds === null ? '' : `${entry.milliseconds} ms`,
				entry.faults.join(', '),
			]);
		const headers = ['No.', 'Method', 'Address', 'Status', 'Token', 'Records', 'Time', 'Faults'];
		return { title: 'Requests', nodes: [grid(headers, rows)] };
	},

	async missing() {
		return { title: 'Not found', nodes: [element('p', {}, 'Choose a section.')] };
	},
};

/** Types that are part of a table's definition and never of its data. */
const displayOnly = ['buttonform', 'freehtmlinput'];

function grid(headers, rows) {
	if (rows.length === 0) return element('p', { className: 'quiet' }, 'Nothing yet.');
	const head = element('tr', {}, ...headers.map((name) => element('th', { scope: 'col' }, name)));
	const body = rows.map((row) => {
		const cells = row.map((cell) => {
			const td = element('td', {}, cell);
			if (!(cell instanceof Node)) td.title = String(cell ?? '');
			return td;
		});
		return element('tr', { className: row.fresh ? 'fresh' : '' }, ...cells);
	});
	const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...body));
	// Focusable, so that the arrow keys scroll it.
	return element('div', { className: 'scroll', tabIndex: 0, id: 'grid' }, table);
}

function fold(id, summary, body) {
	return element(
		'details',
		{ id },
		element('summary', { id: `${id}-summary` }, summary),
		element('pre', {}, body),
	);
}

function mark(good, yes, no) {
	return element('span', { className: good ? 'good' : 'bad' }, good ? yes : no);
}

function runAs({ runAs: kind, configuredBy, token }) {
	if (kind === 'me') return `Me (${configuredBy})`;
	return kind === 'caller' ? 'Logged-in user' : `API token ${token}`;
}

function outcome({ output, error, log }) {
	const result = error === null ? JSON.stringify(output, null, 2) : `Error: ${error}`;
	return [...log, result].join('\n');
}

/** A short text for a value of any type. */
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

function time(instant) {
	const date = new Date(instant);
	return `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv')}`;
}
