/** `schema_link`: to one record, or to many (`metadata.multiple`). */
import { idKey } from '../../api/idSet';
import type { JsonValue } from '../../api/types';
import { isObject, membersOf } from '../../transport/json';
import { fromJsonText, isPlainObject, parseJsonCell, problem, showValue } from '../convert';
import { isCleared, USUAL, type FieldType } from '../fieldType';
import { parseList } from './list';

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isIds = (value: unknown): value is string[] => Array.isArray(value) && value.every(isId);

/** The ID of a linked record that was read with its fields; any other value unchanged. */
const withoutFields = (value: unknown): unknown =>
	isPlainObject(value) && isId(value.id) ? value.id : value;

export const linkToOne: FieldType = {
	...USUAL,
	parse: parseJsonCell,
	convert: (raw) => {
		const value = fromJsonText(raw);
		const id = isPlainObject(value) ? value.id : value;
		if (isId(id)) return { value: { id: idKey(id) } };
		return problem(`accepts the id of one record, not ${showValue(raw)}`);
	},
	equals: (stored, sent) => {
		const [held, given] = [stored, sent].map((value) => (isObject(value) ? value.id : value));
		if (!isId(held) || !isId(given)) return undefined;
		if (held.toLowerCase() !== given.toLowerCase()) return false;
		return held === given || undefined;
	},
	// The platform does not add a link that already exists.
	appends: 'never',
	editor: { type: 'string', hint: 'record ID' },
};

interface Change {
	add: string[];
	remove: string[];
}

const idsIn = (value: unknown) => (isIds(value) ? value : []);

const changeOf = (value: JsonValue): Change => {
	const { add, remove } = membersOf(value);
	return { add: idsIn(add), remove: idsIn(remove) };
};

const united = (...lists: string[][]) => [...new Set(lists.flat())];

export const linkToMany: FieldType = {
	...linkToOne,
	parse: parseList,
	convert: (raw) => {
		const given = fromJsonText(raw);
		const value = Array.isArray(given) ? given.map(withoutFields) : withoutFields(given);
		if (isId(value)) return { value: { add: [idKey(value)] } };
		if (isIds(value)) return { value: { add: value.map(idKey) } };
		const { add, remove } = isPlainObject(value) ? value : {};
		const lists = Object.entries({ add, remove }).filter(([, ids]) => ids);
		if (lists.length > 0 && lists.every(([, ids]) => isIds(ids))) {
			const sent = lists.map(([change, ids]) => [change, (ids as string[]).map(idKey)]);
			return { value: Object.fromEntries(sent) as JsonValue };
		}
		return problem(`accepts record ids, or {"add":[ids],"remove":[ids]}, not ${showValue(raw)}`);
	},
	isOnlyRead: (value) =>
		isPlainObject(value) && typeof value.count === 'number' && typeof value.url === 'string',
	/** The stored value is only a count: it does not say which records are linked. */
	equals: (_stored, sent) => {
		const { add, remove } = changeOf(sent);
		return add.length + remove.length === 0 || undefined;
	},
	isEmpty: (stored) => isCleared(stored) || (isObject(stored) && stored.count === 0),
	merge: (earlier, later) => {
		if (later === null) return null;
		// Sent as a change, it would keep the links that the earlier value cleared.
		if (earlier === null) return undefined;
		const [first, second] = [changeOf(earlier), changeOf(later)];
		const add = united(first.add, second.add);
		const remove = united(first.remove, second.remove);
		// Added by one and removed by the other: neither is meant for certain.
		if (united(add, remove).length < add.length + remove.length) return undefined;
		return { add, remove };
	},
	editor: { type: 'string', hint: 'record IDs to add' },
};
