import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../state/model.mts';
import { isCalendarDay } from './time.mts';
import {
	requireArray,
	requireObject,
	requireOnly,
	quote,
	ValueError,
	type Codec,
} from './codec.mts';

/** `money_with_currency`: `{amount, currency, date?}`; compared by amount. */
export const moneyWithCurrency: Codec = {
	comparison: { as: 'number', path: '.amount' },
	parse(value, field): Json {
		const money = requireObject(value, 'an object {amount, currency, date?}');
		requireOnly(money, ['amount', 'currency', 'date']);
		const { amount, currency, date } = money;
		const { min = -Infinity, max = Infinity } = field.metadata;
		if (typeof amount !== 'number' || !Number.isFinite(amount)) {
			throw new ValueError(`needs a number as amount, not ${quote(amount ?? null)}`);
		}
		if (amount < min || amount > max) {
			throw new ValueError(`needs an amount between ${min} and ${max}`);
		}
		if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
			throw new ValueError(`needs a currency of three capital letters`);
		}
		if (date === undefined || date === null) return { amount, currency };
		const day = typeof date === 'string' ? date.replace(/T00:00:00$/, '') : '';
		if (!isCalendarDay(day)) {
			throw new ValueError('needs a date as YYYY-MM-DD or YYYY-MM-DDT00:00:00');
		}
		return { amount, currency, date: day };
	},
};

/** `url_link`: `{href, description?, isMailto?}`; compared by href. */
export const urlLink: Codec = {
	comparison: { as: 'text', path: '.href' },
	parse(value): Json {
		const link = requireObject(value, 'an object {href, description?, isMailto?}');
		requireOnly(link, ['href', 'description', 'isMailto']);
		const { description = null, isMailto = null } = link;
		const href = requireString(link, 'href');
		if (isMailto !== null && typeof isMailto !== 'boolean') {
			throw new ValueError(`needs true or false as isMailto, not ${quote(isMailto)}`);
		}
		if (/^mailto:/i.test(href)) {
			throw new ValueError('needs an address without mailto: as href, and isMailto: true');
		}
		return {
			href,
			...(description !== null && { description: requireString(link, 'description') }),
			...(isMailto !== null && { isMailto }),
		};
	},
};

/** `checklist`: counts and progress are computed; compared by progress. */
export const checklist: Codec = {
	comparison: { as: 'number', path: '.progress' },
	parse(value, _field, context) {
		const input = requireObject(value, 'an object {lists}');
		requireOnly(input, ['lists', 'progress']);
		const before = listsOf(context.current);
		const lists = requireArray(input.lists, 'an object with an array lists').map((entry, at) =>
			parseList(requireObject(entry, 'an object {header, items}'), before[at]),
		);
		const items = lists.flatMap((list) => list.items as JsonObject[]);
		return { lists, progress: progressOf(items) };
	},
};

/** `chat`: `lastChange` is computed; compared by the messages. */
export const chat: Codec = {
	comparison: { as: 'text', path: '.messages' },
	parse(value, _field, context) {
		const input = requireObject(value, 'an object {messages}');
		requireOnly(input, ['lastChange', 'messages']);
		const before = messagesOf(context.current);
		const now = new Date().toISOString();
		const messages = requireArray(input.messages, 'an object with an array messages').map(
			(entry, at) => {
				const message = requireObject(entry, 'messages of the form {text}');
				requireOnly(message, ['id', 'author', 'authorName', 'created', 'text']);
				const text = requireString(message, 'text');
				const previous = context.appendsMessages
					? before.find(({ id }) => id === message.id)
					: before[at]?.text === text
						? before[at]
						: undefined;
				return {
					id: message.id ?? previous?.id ?? randomUUID(),
					author: message.author ?? previous?.author ?? context.user.id,
					authorName: message.authorName ?? previous?.authorName ?? context.user.name,
					created: message.created ?? previous?.created ?? now,
					text,
				};
			},
		);
		const written = new Set<Json | undefined>(messages.map(({ id }) => id));
		const others = context.appendsMessages ? before.filter(({ id }) => !written.has(id)) : [];
		const all = [...others, ...messages];
		return { lastChange: all.at(-1)?.created ?? null, messages: all };
	},
};

function messagesOf(chat: Json | undefined): JsonObject[] {
	return ((chat as JsonObject | null | undefined)?.messages ?? []) as JsonObject[];
}

/** An entry without an id keeps the id of the entry at its position with the same header. */
function parseList(list: JsonObject, before: JsonObject | undefined): JsonObject {
	requireOnly(list, ['id', 'header', 'items', 'checkedCount', 'progress']);
	const previous = (before?.items ?? []) as JsonObject[];
	const items = requireArray(list.items, 'lists with an array items').map((entry, at) => {
		const item = requireObject(entry, 'items of the form {header, checked}');
		requireOnly(item, ['id', 'header', 'checked']);
		const header = requireString(item, 'header');
		const sameId = previous[at]?.header === header ? previous[at]?.id : undefined;
		return { id: item.id ?? sameId ?? randomUUID(), header, checked: item.checked === true };
	});
	return {
		id: list.id ?? before?.id ?? randomUUID(),
		header: list.header ?? '',
		items,
		checkedCount: items.filter((item) => item.checked).length,
		progress: progressOf(items),
	};
}

function listsOf(value: Json | undefined): JsonObject[] {
	return ((value as JsonObject | null | undefined)?.lists ?? []) as JsonObject[];
}

function progressOf(items: JsonObject[]): number {
	return items.length === 0 ? 0 : items.filter((item) => item.checked).length / items.length;
}

function requireString(value: JsonObject, name: string): string {
	const found = value[name];
	if (typeof found === 'string' && found !== '') return found;
	throw new ValueError(`needs a string as ${name}, not ${quote(found ?? null)}`);
}
