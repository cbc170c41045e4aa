import { element, missing, views } from './views.js';

/** @import { Get, PageTable } from './api.mts' */

const sections = byId('sections');
const content = byId('content');
const state = byId('state');
const pause = 250;

let shown = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;

/** @param {string} id of an element of index.html */
function byId(id) {
	const node = document.getElementById(id);
	if (!node) throw new Error(`The page has no element '${id}'`);
	return node;
}

/** @type {Get} */
async function get(path) {
	const response = await fetch(`/sandbox/${path}`);
	if (!response.ok) throw new Error(`${path}: ${response.status}`);
	return (await response.json()).data;
}

async function show() {
	const tables = await get('tables');
	const route = decodeURIComponent(location.hash.slice(2)) || `records/${firstOf(tables)}`;
	drawSections(tables, route);
	const [name = '', ...rest] = route.split('/');
	const view = views[name] ?? missing;
	const { title, nodes } = await view({ get, tables, rest });
	const navigated = shown !== route;
	// A refresh keeps what the user has expanded, scrolled to or focused.
	const restoreState = navigated ? undefined : saveState();
	document.title = `${title} · Sandbox`;
	content.replaceChildren(element('h2', {}, title), ...nodes);
	restoreState?.();
	if (navigated && shown) content.focus();
	shown = route;
}

/** @param {PageTable[]} tables */
function firstOf(tables) {
	return tables[0] ? `${tables[0].app}/${tables[0].table}` : 'none';
}

function saveState() {
	const open = new Set([...content.querySelectorAll('details[open]')].map((node) => node.id));
	const box = content.querySelector('.scroll');
	const [top, left] = [box?.scrollTop ?? 0, box?.scrollLeft ?? 0];
	const focused = document.activeElement?.id;
	return () => {
		for (const node of content.querySelectorAll('details')) node.open = open.has(node.id);
		content.querySelector('.scroll')?.scrollTo(left, top);
		if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
	};
}

/**
 * @param {PageTable[]} tables
 * @param {string} route
 */
function drawSections(tables, route) {
	const active = document.activeElement;
	const focused =
		active instanceof HTMLAnchorElement && sections.contains(active) ? active.hash : undefined;
	/** @type {HTMLElement[]} */
	const items = [];
	for (const app of new Set(tables.map((table) => table.app))) {
		const own = tables.filter((entry) => entry.app === app);
		items.push(element('li', { className: 'group' }, own[0]?.appName));
		for (const table of own) {
			items.push(link(`records/${app}/${table.table}`, table.header, table.records, route));
		}
	}
	items.push(element('li', { className: 'group' }, 'Sandbox'));
	for (const [name, text] of Object.entries({
		files: 'Files',
		tokens: 'Tokens',
		workflows: 'Workflows',
		runs: 'Workflow runs',
		requests: 'Requests',
	})) {
		items.push(link(name, text, undefined, route));
	}
	sections.replaceChildren(...items);
	for (const node of sections.querySelectorAll('a')) if (node.hash === focused) node.focus();
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
	// A record belongs to its table's section.
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
