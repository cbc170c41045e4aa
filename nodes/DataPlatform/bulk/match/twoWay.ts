/**
 * Two-way sync: what an item and its record changed since both agreed, field by field. Pure. What
 * they agreed on is kept in a text field of the record (`fields/agreedState`).
 */
import type { FieldDefinition, FieldValues, JsonValue, PlatformRecord } from '../../api/types';
import {
	asSent,
	isAsWritten,
	isBlank,
	isSameMark,
	markOf,
	stateText,
	type Agreed,
	type AgreedState,
	type Mark,
} from '../../fields/agreedState';
import { holdsValue } from '../../fields/values';
import { getOwn, omitUndefined } from '../../transport/json';
import type { Conflict } from '../terms';
import type { TwoWayRule, TwoWayRules } from '../writeTask';

/** What follows for a record. */
export interface Merged {
	/** The values to write, without the state. */
	write: FieldValues;
	/** The record's values that the other system does not have yet. */
	sendBack: FieldValues;
	conflicts: Conflict[];
	/** The text to keep in the record; undefined if it has it already. */
	state?: string;
}

/** How many values that were sent back the state remembers. */
const MAX_SENT = 3;

/** Two-way sync of one record. */
class RecordMerge {
	private readonly write: FieldValues = {};
	private readonly sendBack: FieldValues = {};
	private readonly conflicts: Conflict[] = [];
	private readonly agreed: Record<string, Agreed>;

	constructor(
		private readonly here: PlatformRecord | null,
		private readonly known: AgreedState | undefined,
		private readonly rules: TwoWayRules,
	) {
		this.agreed = { ...known?.fields };
	}

	/** Decides about a field of the item. */
	field(field: FieldDefinition, sent: JsonValue) {
		const { name } = field;
		const stored = getOwn<JsonValue>(this.here?.fields ?? {}, name);
		const here = markOf(asSent(field, stored));
		const item = markOf(asSent(field, sent));
		const isEqual = isSameMark(here, item) || holdsValue(field, stored, sent) === true;
		const last = this.lastAgreed(name, item);
		const agree = (mark: Mark) => this.agree(name, mark, item, last);
		const take = () => {
			this.write[name] = sent;
			agree(item);
		};
		const giveBack = () => {
			this.sendBack[name] = stored ?? null;
			// The first time, it is as if both had agreed on what the item has.
			const sent = last?.sent ?? [];
			const isSent = sent.length > 0 && isSameMark(sent.at(-1), here);
			this.agree(
				name,
				last?.here ?? item,
				item,
				last,
				isSent ? sent : [...sent, here].slice(-MAX_SENT),
			);
		};
		const decide = (rule: TwoWayRule) => {
			if (rule === 'takeItem') take();
			else if (rule === 'keep') giveBack();
			else this.report(name, stored, sent, last);
		};
		if (!last) {
			if (isEqual) agree(here);
			else if (!this.here || isBlank(field, stored)) take();
			else if (isBlank(field, sent)) giveBack();
			else decide(this.rules.firstTime);
			return;
		}
		const isWritten = isAsWritten(name, this.here, this.known);
		const isHereChanged = !isWritten && !isSameMark(last.here, here);
		const isItemChanged = !isSameMark(last.item, item);
		// An item from an old list: both sides agreed on another value since. A list is old only once.
		const isBack = isItemChanged && last.before !== undefined && isSameMark(last.before, item);
		const isOld = isBack && last.again !== true;
		if (isEqual || (!isHereChanged && !isItemChanged)) {
			if (isEqual || isWritten) agree(here);
		} else if (!isItemChanged) giveBack();
		else if (!isHereChanged && !isOld) take();
		else if (isOld) {
			this.agreed[name] = { ...last, again: true };
			this.report(name, stored, sent, last);
		} else decide(this.rules.bothChanged);
	}

	/** What both sides agreed on before this run. If the item has what was sent back, they agree on that. */
	private lastAgreed(name: string, item: Mark): Agreed | undefined {
		const last = getOwn<Agreed>(this.agreed, name);
		const at = last?.sent?.findLastIndex((mark) => isSameMark(mark, item)) ?? -1;
		if (!last || at < 0) return last;
		return { here: item, item, before: last.item, sent: last.sent!.slice(at + 1) };
	}

	private agree(name: string, here: Mark, item: Mark, last?: Agreed, sent?: Mark[]) {
		const before = last && !isSameMark(last.item, item) ? last.item : last?.before;
		this.agreed[name] = { here, item, ...omitUndefined({ before, sent }) };
	}

	private report(field: string, here: JsonValue | undefined, item: JsonValue, last?: Agreed) {
		const agreed = Array.isArray(last?.here) ? undefined : last?.here;
		const since = last && this.known?.at;
		this.conflicts.push({ field, ...omitUndefined({ agreed, since }), here: here ?? null, item });
	}

	/** @param now the time of this run, in ISO 8601 */
	result({ key, on }: Pick<TwoWayRecord, 'key' | 'on'>, now: string): Merged {
		const { write, sendBack, conflicts, known, agreed: fields } = this;
		const isSame = JSON.stringify(fields) === JSON.stringify(known?.fields ?? {});
		if (isSame && Object.keys(write).length === 0) return { write, sendBack, conflicts };
		const ver = this.here?.ver === undefined ? undefined : this.here.ver + 1;
		const wrote = Object.keys(write);
		const state = stateText(key, { at: now, on, ver: this.here ? ver : 0, wrote, fields });
		return { write, sendBack, conflicts, state };
	}
}

/** What is known of a record that is synced. */
export interface TwoWayRecord {
	/** The record as it was read; null if it does not exist. */
	here: PlatformRecord | null;
	/** What it is found by. */
	key: string;
	/** The names of the fields with the key; none if it is the record's ID. */
	on: string[];
	known: AgreedState | undefined;
}

/**
 * Compares an item with its record.
 *
 * @param fields those of the item, without the ones that records are found by
 * @param item converted values
 * @param now the time of this run, in ISO 8601
 */
export function mergeRecord(
	fields: FieldDefinition[],
	item: FieldValues,
	{ here, known, ...found }: TwoWayRecord,
	rules: TwoWayRules,
	now: string,
): Merged {
	const merge = new RecordMerge(here, known, rules);
	for (const field of fields) merge.field(field, getOwn<JsonValue>(item, field.name) ?? null);
	return merge.result(found, now);
}
