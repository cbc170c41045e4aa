/** @import { Column, Paging, Sort, View, ViewInput } from './api.mts' */

/** How many rows a page has. */
export const pageSize = 100;

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
export function list(
	{ search, sort, onSort, ...paging },
	title,
	columns,
	entries,
	empty,
	notes = [],
) {
	const searched = search.toLowerCase();
	const found = entries.filter((entry) =>
		columns.some(({ value }) => String(value(entry)).toLowerCase().includes(searched)),
	);
	const by = columns.find(({ header }) => header === sort?.by);
	if (by) {
		const sign = sort?.descending ? -1 : 1;
		found.sort((one, other) => sign * compare(by.value(one), by.value(other)));
	}
	const headers = columns.map(({ header }) => sortable(header, header, sort, onSort));
	const first = paging.page * pageSize;
	const rows = found.slice(first, first + pageSize).map((entry) => row(columns, entry));
	const none = search ? 'Nothing contains this text.' : empty;
	return {
		title,
		nodes: [...notes, ...pages(paging, found.length), grid(headers, rows, none)],
		searchable: true,
	};
}

/**
 * Which rows are shown, and buttons for the others; nothing if all fit on one page.
 *
 * @param {Paging} paging
 * @param {number} count of all rows
 */
export function pages({ page, onPage }, count) {
	if (count <= pageSize) return [];
	const last = Math.ceil(count / pageSize) - 1;
	/** @param {string} label @param {number} target @param {boolean} disabled */
	const turn = (label, target, disabled) => {
		const button = element('button', { type: 'button', id: `page-${label}`, disabled }, label);
		button.addEventListener('click', () => onPage(target));
		return button;
	};
	const [from, to] = [page * pageSize + 1, Math.min((page + 1) * pageSize, count)];
	return [
		element(
			'p',
			{},
			`${from} to ${to} of ${count.toLocaleString('en')} `,
			turn('Previous', page - 1, page === 0),
			' ',
			turn('Next', page + 1, page >= last),
		),
	];
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
