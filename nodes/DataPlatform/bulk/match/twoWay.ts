/**
 * Two-way sync of planned records: what is written of each, and what goes back. What an item and its
 * record changed since both agreed decides, field by field. What they agreed on is kept in a text field
 * of the record (`fields/agreedState`). Pure.
 */
import type { FieldDefinition, FieldValues, JsonValue, PlatformRecord } from '../../api/types';
import { fieldType } from '../../fields';
import {
	asSent,
	isAsWritten,
	isBlank,
	isSameMark,
	markOf,
	readState,
	stateText,
	type Agreed,
	type AgreedState,
	type Mark,
} from '../../fields/agreedState';
import { files } from '../../fields/types/files';
import { linkToMany } from '../../fields/types/link';
import { chat } from '../../fields/types/structured';
import { holdsValue } from '../../fields/values';
import { LABELS } from '../../labels';
import { InputError } from '../../transport/errors';
import { getOwn, omitUndefined } from '../../transport/json';
import type { Conflict, Entry, FieldRules, TwoWay, TwoWayRule, TwoWayRules } from '../terms';
import { ALWAYS_ALLOWED } from './rules';

/** How many values that were sent back the state remembers. */
const MAX_SENT = 3;

/** Two-way sync of one record. */
class RecordMerge {
	/** The values to write, without the state. */
	readonly write: FieldValues = {};
	/** The record's values that the other system does not have yet. */
	readonly sendBack: FieldValues = {};
	readonly conflicts: Conflict[] = [];
	readonly agreed: Record<string, Agreed>;

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
}

/** What is known of a record that is synced. */
interface TwoWayRecord {
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
 * @returns what follows, and the text to keep in the record as its state, unless it has it already
 */
export function mergeRecord(
	fields: FieldDefinition[],
	item: FieldValues,
	{ here, key, on, known }: TwoWayRecord,
	rules: TwoWayRules,
	now: string,
) {
	const merge = new RecordMerge(here, known, rules);
	for (const field of fields) merge.field(field, getOwn<JsonValue>(item, field.name) ?? null);
	const { write, sendBack, conflicts, agreed } = merge;
	const wrote = Object.keys(write);
	const isSame = JSON.stringify(agreed) === JSON.stringify(known?.fields ?? {});
	if (isSame && wrote.length === 0) return { write, sendBack, conflicts };
	const ver = here?.ver === undefined ? undefined : here.ver + 1;
	const state = stateText(key, { at: now, on, ver: here ? ver : 0, wrote, fields: agreed });
	return { write, sendBack, conflicts, state };
}

export class TwoWaySync {
	/** @param keys the fields that records are found by */
	constructor(
		private readonly options: TwoWay,
		private readonly fields: ReadonlyMap<string, FieldDefinition>,
		private readonly keys: FieldDefinition[],
		private readonly rules: FieldRules = new Map(),
	) {}

	/** Has the state read together with the values that are compared. An item's own value is left out. */
	begin(record: Entry): Entry {
		return { ...record, fields: { ...record.fields, [this.options.state]: null } };
	}

	/**
	 * What to write of a record, before anything is sent.
	 *
	 * @param here the record as it was read; null if it does not exist
	 * @throws {InputError} if a field can't be synced both ways, or the state does not fit
	 */
	apply(record: Entry, here: PlatformRecord | null): Entry {
		const { state: name, now } = this.options;
		const key = (this.keys.length > 0 ? record.key : record.id) ?? '';
		const fields = this.synced(record);
		const stored = readState(getOwn(here?.fields ?? {}, name), () => key);
		if (stored === 'other') {
			throw new InputError(`Nothing was sent: '${name}' of the record '${key}' holds other text`, {
				field: name,
				hint: `Choose a field under '${LABELS.stateField}' that nothing else uses, or clear it in all records.`,
			});
		}
		const known = typeof stored === 'object' ? stored : undefined;
		const on = this.keys.map((field) => field.name);
		const sides = { here, key, on, known };
		const { write, state, sendBack, conflicts } = mergeRecord(
			fields,
			record.fields,
			sides,
			this.options,
			now,
		);
		if (state !== undefined) this.requireRoom(state);
		const isSynced = new Set(fields.map((field) => field.name)).add(name);
		const others = Object.entries(record.fields).filter(([field]) => !isSynced.has(field));
		const written = Object.fromEntries(others);
		Object.assign(written, write, state !== undefined && { [name]: state });
		return {
			...record,
			fields: written,
			twoWay: {
				state: name,
				sendBack,
				conflicts,
				isFirst: known === undefined,
				isStateLost: stored === 'foreign' || stored === 'unreadable',
				isChanged: state !== undefined && Object.keys({ ...write, ...sendBack }).length > 0,
			},
		};
	}

	/** The fields of a record that are synced both ways; those with a rule follow it. */
	private synced({ fields }: Entry): FieldDefinition[] {
		const isKey = new Set(this.keys.map(({ name }) => name));
		const names = Object.keys(fields).filter(
			(name) => !isKey.has(name) && name !== this.options.state && !this.rules.has(name),
		);
		return names.map((name) => {
			const field = this.fields.get(name)!;
			const type = fieldType(field);
			if (![linkToMany, files, chat].includes(type)) return field;
			throw new InputError(`Nothing was sent: '${name}' can't be synced both ways`, {
				field: name,
				hint: `It holds ${type === linkToMany ? 'links to several records' : 'files or messages'}, whose changes can't be told apart. Remove it from the items and the mapping, or choose 'Only When Creating' for it under '${LABELS.fieldRules}'.`,
			});
		});
	}

	private requireRoom(state: string) {
		const { state: name } = this.options;
		const { maxLength } = this.fields.get(name)!.metadata;
		if (maxLength === undefined || state.length <= maxLength) return;
		throw new InputError(`Nothing was sent: '${name}' is too short for the state of a record`, {
			field: name,
			hint: `It takes ${maxLength} characters, ${state.length} are needed. Make it a long text field in the platform, or map fewer fields.`,
		});
	}

	/** @throws {InputError} if an unusual share of the records would change, on either side */
	requireFewChanges(records: Entry[]) {
		const known = records.filter(({ twoWay }) => twoWay?.isFirst === false);
		const changed = known.filter(({ twoWay }) => twoWay!.isChanged);
		const { maxChanges } = this.options;
		if (changed.length <= ALWAYS_ALLOWED) return;
		if (changed.length * 100 <= known.length * maxChanges) return;
		throw new InputError(
			`Nothing was written: ${changed.length} of ${known.length} records changed since both sides agreed, more than ${maxChanges} %`,
			{
				hint: `Check that the input is complete and the table was not restored or reloaded. If this is intended, raise '${LABELS.maxChanges}'.`,
			},
		);
	}
}
