/** Two-way sync of planned records: what is written of each, and what goes back. */
import type { FieldDefinition, PlatformRecord } from '../../api/types';
import { fieldType } from '../../fields';
import { readState } from '../../fields/agreedState';
import { files } from '../../fields/types/files';
import { linkToMany } from '../../fields/types/link';
import { LABELS } from '../../labels';
import { InputError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { Entry, ItemOutcome } from '../terms';
import type { FieldRules, TwoWay } from '../writeTask';
import { ALWAYS_ALLOWED } from './rules';
import { mergeRecord } from './twoWay';

export class TwoWaySync {
	/** @param keys the fields that records are found by */
	constructor(
		private readonly options: TwoWay,
		private readonly fields: ReadonlyMap<string, FieldDefinition>,
		private readonly keys: FieldDefinition[],
		private readonly rules: FieldRules = new Map(),
	) {}

	/**
	 * Has the state read together with the values that are compared.
	 *
	 * @param isFromInput whether the values may be a record as it was read
	 * @throws {InputError} if the state is mapped
	 */
	begin(record: Entry, isFromInput: boolean): Entry {
		const { state } = this.options;
		if (isFromInput || !Object.hasOwn(record.fields, state)) {
			return { ...record, fields: { ...record.fields, [state]: null } };
		}
		throw new InputError(`Nothing was sent: the field '${state}' is mapped`, {
			field: state,
			hint: `It is the '${LABELS.stateField}', which only this node writes. Remove it from the mapping.`,
		});
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
		if (stored === 'other') this.refuseOtherText(key);
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
		const entries = Object.entries(record.fields);
		const others = entries.filter(([field]) => !isSynced.has(field));
		const written = Object.fromEntries(others);
		Object.assign(written, write, state !== undefined && { [name]: state });
		const held = entries.filter(([field]) => !Object.hasOwn(written, field));
		return {
			...record,
			fields: written,
			ruled: {
				kept: record.ruled?.kept ?? [],
				held: { ...record.ruled?.held, ...Object.fromEntries(held) },
			},
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
			if (type !== linkToMany && type !== files && type.appends === 'never') return field;
			throw new InputError(`Nothing was sent: '${name}' can't be synced both ways`, {
				field: name,
				hint: `It holds ${type === linkToMany ? 'links to several records' : 'files or messages'}, whose changes can't be told apart. Remove it from the items and the mapping, or choose 'Only When Creating' for it under '${LABELS.fieldRules}'.`,
			});
		});
	}

	private refuseOtherText(key: string): never {
		const { state } = this.options;
		throw new InputError(`Nothing was sent: '${state}' of the record '${key}' holds other text`, {
			field: state,
			hint: `Choose a field under '${LABELS.stateField}' that nothing else uses, or clear it in all records.`,
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

/** Adds to an outcome what must go back, and what a person must decide. */
export function withTwoWay(outcome: ItemOutcome, { twoWay }: Entry): ItemOutcome {
	if (!twoWay) return outcome;
	const { sendBack, conflicts } = twoWay;
	return {
		...outcome,
		...(Object.keys(sendBack).length > 0 && { sendBack }),
		...(conflicts.length > 0 && { conflicts }),
	};
}
