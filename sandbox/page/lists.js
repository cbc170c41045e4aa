/** @import { Column, Sort, View, ViewInput } from './api.mts' */

/** How many rows to show at most. */
export const mostRows = 200;

/**
 * Creates an element. Children are nodes or text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} [properties]
 * @param {Array<Node | string | number | null | undefined>} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties, ...children) {
	const node = Object.assign(document.createElement(tag), properties);
	node.append(...children.map((child) => (child instanceof Node ? child : String(child ?? ''))));
	return node;
}

/** @param {string} content */
export function quiet(content) {
	return element('p', { className: 'quiet' }, content);
}

/**
 * A list that the page itself searches and sorts.
 *
 * @template Entry
 * @param {ViewInput} input
 * @param {string} title
 * @param {Array<Column<Entry>>} columns
 * @param {Entry[]} entries in their initial order
 * @param {string} empty the text to show without entries
 * @param {HTMLElement[]} [notes]
 * @returns {View}
 */
export function list({ search, sort, onSort }, title, columns, entries, empty, notes = []) {
	const wanted = search.toLowerCase();
	const found = entries.filter((entry) =>
		columns.some(({ value }) => String(value(entry)).toLowerCase().includes(wanted)),
	);
	const by = columns.find(({ header }) => header !== '' && header === sort?.by);
	if (by) {
		const sign = sort?.descending ? -1 : 1;
		found.sort((one, other) => sign * compare(by.value(one), by.value(other)));
	}
	const shown = found.slice(0, mostRows);
	const headers = columns.map(({ header }) =>
		sortable(header, header === '' ? undefined : header, sort, onSort),
	);
	const rows = shown.map((entry) => row(columns, entry));
	const count = shownOf(shown.length, found.length, 'in all');
	const none = search ? 'Nothing contains this text.' : empty;
	return {
		title,
		nodes: [
			...notes,
			...(found.length > mostRows ? [quiet(count)] : []),
			grid(headers, rows, none),
		],
		searchable: true,
	};
}

/**
 * @param {string | number} one
 * @param {string | number} other
 */
function compare(one, other) {
	if (typeof one === 'number' && typeof other === 'number') return one - other;
	return String(one).localeCompare(String(other), 'en', { numeric: true });
}

/**
 * @param {number} shown
 * @param {number} count
 * @param {string} what
 */
export function shownOf(shown, count, what) {
	const all = `${count.toLocaleString('en')} ${what}`;
	return shown < count ? `${all}, the first ${shown} are shown.` : `${all}.`;
}

/**
 * @template Entry
 * @param {Array<Column<Entry>>} columns
 * @param {Entry} entry
 * @param {boolean} [isFresh] whether to highlight it
 */
export function row(columns, entry, isFresh = false) {
	const cells = columns.map(({ value, cell }) => {
		const shown = cell ? cell(entry) : String(value(entry));
		const td = element('td', {}, shown);
		if (typeof shown === 'string') td.title = shown;
		return td;
	});
	return element('tr', { className: isFresh ? 'fresh' : '' }, ...cells);
}

/**
 * The header of a column, a button if the list can be sorted by it.
 *
 * @param {string} header
 * @param {string | undefined} by what to sort by
 * @param {Sort | undefined} sort as it is now
 * @param {(sort: Sort) => void} onSort
 */
export function sortable(header, by, sort, onSort) {
	const th = element('th', { scope: 'col' });
	if (by === undefined) {
		th.append(header);
		return th;
	}
	const isChosen = sort?.by === by;
	if (isChosen) th.ariaSort = sort.descending ? 'descending' : 'ascending';
	const button = element('button', { type: 'button', id: `sort-${by}` }, header);
	button.addEventListener('click', () => onSort({ by, descending: isChosen && !sort.descending }));
	th.append(button);
	return th;
}

/**
 * @param {string[]} headers
 * @param {Array<Array<Node | string | number>>} rows
 * @param {string} empty the text to show without rows
 */
export function plainGrid(headers, rows, empty) {
	return grid(
		headers.map((header) => element('th', { scope: 'col' }, header)),
		rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell)))),
		empty,
	);
}

/**
 * @param {HTMLTableCellElement[]} headers
 * @param {HTMLTableRowElement[]} rows
 * @param {string} empty the text to show without rows
 */
export function grid(headers, rows, empty) {
	if (rows.length === 0) return element('p', { className: 'empty' }, empty);
	const head = element('tr', {}, ...headers);
	const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
	// Focusable, so that the arrow keys scroll it.
	return element('div', { className: 'scroll', tabIndex: 0, id: 'grid' }, table);
}
