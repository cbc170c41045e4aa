/**
 * `schema_link`: to one record, to many (`metadata.multiple`), or of unknown kind, as some
 * definitions do not tell: then the form of a value does.
 */
import { idKey, UUID } from '../../api/idSet';
import type { JsonValue } from '../../api/types';
import { LABELS } from '../../labels';
import { isObject, membersOf } from '../../transport/json';
import { fromJsonText, isPlainObject, parseJsonCell, problem, showValue } from '../convert';
import { isCleared, USUAL, type Converted, type FieldType } from '../fieldType';
import { parseList } from './text';

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isIds = (value: unknown): value is string[] => Array.isArray(value) && value.every(isId);

/**
 * The ID that a value gives; undefined if it gives none. A text is one if it is a UUID, as the
 * platform writes IDs: any other is probably a name. `{ id }` may have any, also with more fields.
 */
function idOf(value: unknown): string | undefined {
	if (typeof value === 'string') return UUID.test(value.trim()) ? idKey(value.trim()) : undefined;
	return isPlainObject(value) && isId(value.id) ? idKey(value.id) : undefined;
}

/** The IDs of a list; undefined if an entry gives none. */
function idsOf(value: unknown): string[] | undefined {
	const ids = Array.isArray(value) ? value.map(idOf) : [undefined];
	return isIds(ids) ? ids : undefined;
}

const ACCEPTED = new Map<boolean | undefined, string>([
	[true, 'accepts record ids, or {"add":[ids],"remove":[ids]}'],
	[false, 'accepts the id of one record'],
	[undefined, 'accepts {"id":"…"}, a list of record ids, or {"add":[ids],"remove":[ids]}'],
]);

function convert(raw: unknown, isToMany: boolean | undefined): Converted {
	const value = fromJsonText(raw);
	const id = idOf(value);
	if (id !== undefined && isToMany === undefined && typeof value === 'string') {
		return problem('may link to one record or to many, and no record of the table shows which');
	}
	if (id !== undefined) return { value: isToMany ? { add: [id] } : { id } };
	const wrong = problem(`${ACCEPTED.get(isToMany)!}, not ${showValue(raw)}`);
	if (isToMany === false) return wrong;
	const listed = idsOf(value);
	if (listed) return { value: { add: listed } };
	const { add, remove, ...others } = isPlainObject(value) ? value : {};
	const given = Object.entries({ add, remove }).filter(([, ids]) => ids);
	const lists = given.map(([change, ids]) => [change, idsOf(ids)] as const);
	const isChange = lists.length > 0 && Object.keys(others).length === 0;
	if (!isChange || !lists.every(([, ids]) => ids)) return wrong;
	return { value: Object.fromEntries(lists) as JsonValue };
}

const idsIn = (value: unknown) => (isIds(value) ? value : []);

/** What a converted value adds and removes; undefined for the record of a link to one. */
const changeOf = (value: JsonValue) => {
	const { id, add, remove } = membersOf(value);
	return id === undefined ? { add: idsIn(add), remove: idsIn(remove) } : undefined;
};

/** The IDs of both lists once, without some others. */
const united = (earlier: string[], later: string[], others: string[]) => [
	...new Set([...earlier.filter((id) => !others.includes(id)), ...later]),
];

const link = (isToMany: boolean | undefined, hint: string): FieldType => ({
	...USUAL,
	parse: isToMany ? parseList : parseJsonCell,
	convert: (raw) => convert(raw, isToMany),
	remedy: (text, source) => {
		if (!UUID.test(text)) return `for names or keys, add '${LABELS.linkValues}' in the options`;
		if (isToMany !== undefined) return undefined;
		if (source === undefined) return 'write {"id":"…"} if to one, ["…"] if to many';
		return `use {{ ${source} && { id: ${source} } }} if to one, {{ ${source} && [${source}] }} if to many`;
	},
	isOnlyRead: (value) =>
		isPlainObject(value) &&
		typeof value.count === 'number' &&
		value.add === undefined &&
		value.remove === undefined,
	/** The stored value of a link to many is only a count: it does not say which are linked. */
	equals: (stored, sent) => {
		const change = isObject(sent) ? changeOf(sent) : undefined;
		if (change) return change.add.length + change.remove.length === 0 || undefined;
		const [held, given] = [stored, sent].map((value) => (isObject(value) ? value.id : value));
		if (!isId(held) || !isId(given)) return undefined;
		if (held.toLowerCase() !== given.toLowerCase()) return false;
		return held === given || undefined;
	},
	isEmpty: (stored) =>
		isCleared(stored) ||
		(isObject(stored) && (stored.count === 0 || Object.keys(stored).length === 0)),
	/** Changes add up. What the later one says of a record counts. */
	merge: (earlier, later) => {
		const [first, second] = [earlier, later].map(changeOf);
		if (later === null || !second) return later;
		// Sent as a change, it would keep the links that the earlier value cleared.
		if (earlier === null || !first) return undefined;
		return {
			add: united(first.add, second.add, second.remove),
			remove: united(first.remove, second.remove, second.add),
		};
	},
	editor: { type: 'string', hint },
});

export const linkToOne = link(false, 'linked record');
export const linkToMany = link(true, 'linked records to add');
export const linkOfUnknownKind = link(undefined, 'linked record');
