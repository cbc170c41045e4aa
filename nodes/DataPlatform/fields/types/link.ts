/**
 * `schema_link`: to one record, to many (`metadata.multiple`), or of unknown kind, as some
 * definitions do not tell: then the form of a value does.
 */
import { idKey } from '../../api/idSet';
import type { JsonValue } from '../../api/types';
import { isObject, membersOf } from '../../transport/json';
import { fromJsonText, isPlainObject, parseJsonCell, problem, showValue } from '../convert';
import { isCleared, USUAL, type Converted, type FieldType } from '../fieldType';
import { parseList } from './list';

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isIds = (value: unknown): value is string[] => Array.isArray(value) && value.every(isId);

/** The ID of a linked record that was read with its fields; any other value unchanged. */
const withoutFields = (value: unknown): unknown =>
	isPlainObject(value) && isId(value.id) ? value.id : value;

const ACCEPTED = new Map<boolean | undefined, string>([
	[true, 'accepts record ids, or {"add":[ids],"remove":[ids]}'],
	[false, 'accepts the id of one record'],
	[undefined, 'accepts {"id":"…"}, a list of record ids, or {"add":[ids],"remove":[ids]}'],
]);

function convert(raw: unknown, isToMany: boolean | undefined): Converted {
	const given = fromJsonText(raw);
	const value = Array.isArray(given) ? given.map(withoutFields) : withoutFields(given);
	if (isId(value) && (isToMany !== undefined || value !== given)) {
		return { value: isToMany ? { add: [idKey(value)] } : { id: idKey(value) } };
	}
	if (isId(value)) {
		return problem('may link to one record or to many, and no record of the table shows which');
	}
	const wrong = problem(`${ACCEPTED.get(isToMany)!}, not ${showValue(raw)}`);
	if (isToMany === false) return wrong;
	if (isIds(value)) return { value: { add: value.map(idKey) } };
	const { add, remove } = isPlainObject(value) ? value : {};
	const lists = Object.entries({ add, remove }).filter(([, ids]) => ids);
	if (lists.length === 0 || !lists.every(([, ids]) => isIds(ids))) return wrong;
	const sent = lists.map(([change, ids]) => [change, (ids as string[]).map(idKey)]);
	return { value: Object.fromEntries(sent) as JsonValue };
}

interface Change {
	add: string[];
	remove: string[];
}

const idsIn = (value: unknown) => (isIds(value) ? value : []);

/** What a converted value adds and removes; undefined for the record of a link to one. */
const changeOf = (value: JsonValue): Change | undefined => {
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
	remedy: (_text, source) => {
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
	// The platform does not add a link that already exists.
	appends: 'never',
	editor: { type: 'string', hint },
});

export const linkToOne = link(false, 'record ID');
export const linkToMany = link(true, 'record IDs to add');
export const linkOfUnknownKind = link(undefined, 'record ID');
