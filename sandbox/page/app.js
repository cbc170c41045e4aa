import { faultButtons } from './faults.js';
import { element } from './lists.js';
import { missing, views } from './views.js';

/** @import { Get, PageTable, Send, Sort } from './api.mts' */

const sections = byId('sections', HTMLUListElement);
const tableList = byId('tables', HTMLUListElement);
const find = byId('find', HTMLInputElement);
const content = byId('content', HTMLElement);
const title = byId('title', HTMLHeadingElement);
const search = byId('search', HTMLInputElement);
const view = byId('view', HTMLDivElement);
const state = byId('state', HTMLParagraphElement);

const pause = 250;

/** With more tables than this, the page offers a search for them. */
const fewTables = 12;

let shown = '';
/** If several views are being drawn, only the last one is shown. */
let latestTurn = 0;
/** @type {Sort | undefined} */
let sort;
let page = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;

/**
 * @template {HTMLElement} Type
 * @param {string} id of an element of index.html
 * @param {new () => Type} type
 * @returns {Type}
 */
function byId(id, type) {
	const node = document.getElementById(id);
	if (!(node instanceof type)) throw new Error(`The page has no element '${id}'`);
	return node;
}

/** @type {Get} */
async function get(path) {
	const response = await fetch(`/sandbox/${path}`);
	if (!response.ok) throw new Error(`${path}: ${response.status}`);
	return (await response.json()).data;
}

/** @type {Send} */
async function send(method, path, body) {
	const json = body !== undefined && {
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	};
	const response = await fetch(`/sandbox/${path}`, { method, ...json });
	if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
	refresh();
}

async function show() {
	const turn = ++latestTurn;
	const tables = await get('tables');
	if (turn !== latestTurn) return;
	const first = tables[0] ? `records/${tables[0].app}/${tables[0].table}` : 'requests';
	const hash = decodeURIComponent(location.hash);
	const route = hash.startsWith('#/') ? hash.slice(2) : shown || first;
	const navigated = shown !== route;
	if (navigated) {
		search.value = '';
		sort = undefined;
		page = 0;
	}
	drawSections(tables, route);
	const [name = '', ...rest] = route.split('/');
	/** @param {Sort} next */
	const onSort = (next) => {
		sort = next;
		page = 0;
		refresh();
	};
	/** @param {number} next */
	const onPage = (next) => {
		page = next;
		refresh();
	};
	const chosen = views[name] ?? missing;
	const text = search.value.trim();
	const drawn = await chosen({ get, send, tables, rest, search: text, sort, onSort, page, onPage });
	const before = name === 'requests' ? [faultButtons(await get('faults'), send)] : [];
	if (turn !== latestTurn) return;
	// A refresh keeps what the user has expanded, scrolled to or focused.
	const restoreState = navigated ? undefined : saveState();
	document.title = `${drawn.title} · Sandbox`;
	title.textContent = drawn.title;
	search.hidden = !drawn.searchable;
	view.replaceChildren(...before, ...drawn.nodes);
	restoreState?.();
	if (navigated && shown) content.focus({ preventScroll: true });
	shown = route;
}

function saveState() {
	const open = new Set([...view.querySelectorAll('details[open]')].map((node) => node.id));
	const box = view.querySelector('.scroll');
	const [top, left] = [box?.scrollTop ?? 0, box?.scrollLeft ?? 0];
	const focused = view.contains(document.activeElement) && document.activeElement?.id;
	return () => {
		for (const node of view.querySelectorAll('details')) node.open = open.has(node.id);
		view.querySelector('.scroll')?.scrollTo(left, top);
		if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
	};
}

/**
 * @param {PageTable[]} tables
 * @param {string} route
 */
function drawSections(tables, route) {
	const active = document.activeElement;
	const focused = active instanceof HTMLAnchorElement ? active.hash : undefined;
	const names = Object.entries({
		requests: 'Requests and faults',
		runs: 'Workflow runs',
		workflows: 'Workflows',
		files: 'Files',
		tokens: 'Tokens',
		platform: 'Platform',
	});
	sections.replaceChildren(...names.map(([name, text]) => link(name, text, undefined, route)));

	find.hidden = tables.length <= fewTables;
	const searched = find.hidden ? '' : find.value.trim().toLowerCase();
	const found = tables.filter(({ appName, header, table }) =>
		[appName, header, table].some((text) => text.toLowerCase().includes(searched)),
	);
	/** @type {HTMLElement[]} */
	const items = [];
	for (const [app, group] of Map.groupBy(found, (entry) => entry.app)) {
		items.push(element('li', { className: 'group' }, group[0]?.appName));
		for (const table of group) {
			items.push(link(`records/${app}/${table.table}`, table.header, table.records, route));
		}
	}
	tableList.replaceChildren(...items);
	for (const node of document.querySelectorAll('nav a')) {
		if (node instanceof HTMLAnchorElement && node.hash === focused) node.focus();
	}
}

/**
 * @param {string} target
 * @param {string} text
 * @param {number | undefined} count
 * @param {string} route
 */
function link(target, text, count, route) {
	const anchor = element('a', { href: `#/${target}` }, text);
	if (count !== undefined)
		anchor.append(element('span', { className: 'count' }, count.toLocaleString('en')));
	// A record belongs to the section of its table.
	const isCurrent = target === route || route.startsWith(`${target}/`);
	if (isCurrent) anchor.setAttribute('aria-current', 'page');
	return element('li', {}, anchor);
}

/** Several changes at once cause one refresh. */
function refresh() {
	pending ??= setTimeout(async () => {
		pending = undefined;
		try {
			await show();
			state.textContent = 'Live';
		} catch (error) {
			console.error(error);
			state.textContent = `Out of date: ${error instanceof Error ? error.message : error}`;
		}
	}, pause);
}

const events = new EventSource('/sandbox/events');
events.onmessage = refresh;
events.onerror = () => {
	state.textContent = 'No connection to the sandbox. Reconnecting…';
};
addEventListener('hashchange', () => void show());
search.addEventListener('input', () => {
	page = 0;
	refresh();
});
find.addEventListener('input', refresh);
byId('skip', HTMLAnchorElement).addEventListener('click', (event) => {
	// Its address is not a section of this page.
	event.preventDefault();
	content.focus();
});
byId('reset', HTMLButtonElement).addEventListener('click', () => {
	const question =
		'Restore the sample data, the tokens and the settings, and clear requests and faults?';
	if (confirm(question)) void send('POST', 'reset');
});
