/**
 * Two-way sync of a table and another system, at random: people edit both, requests fail, the other
 * system's list lags behind what the sync wrote there, and does not always take it. Sometimes a trigger or Get
 * Changes starts runs for what must go back. No edit is lost
 * without a conflict; in the end both sides are equal, and nothing is written or sent back any more.
 * `npm run check -- twoWay [--schedules N] [--seed N]`.
 *
 * Each edit makes a version that knows which ones its author had seen. A copy from one side to the
 * other may only replace a version that the copied one has seen. Nothing here reads the state.
 */
import { isDeepStrictEqual } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule, StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { automatic, watch } from '../../support/engine/outsideJest.mts';
import { readOptions } from '../../support/options.mts';
import { Results, seedsFrom, type Verdict } from '../../support/results.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { APP, idOf, TABLE } from '../faults/constants.mts';
import { FAULT_NAMES, FAULTS } from '../faults/faults.mts';
import { choosePlatform } from '../faults/platform.mts';
import { describeRequest } from '../faults/sandboxSlot.mts';
import { MatrixSandbox } from '../matrix/matrixSandbox.mts';
import { itemsOf, tableParameters } from '../matrix/scenarios/scenario.mts';

const { schedules, slots, seed: first } = readOptions({ schedules: 200, slots: 8 });

/** Longer than a request takes, shorter than the faults that never respond. */
const TIMEOUT_S = 1;

/** Rounds without edits and faults at the end. In the last one, nothing may happen any more. */
const QUIET_ROUNDS = 4;

const FIELDS = ['name', 'group', 'size', 'due', 'seen'] as const;
type Field = (typeof FIELDS)[number];

/** A value, and the versions that its author had seen. */
interface Version {
	id: number;
	value: unknown;
	seen: ReadonlySet<number>;
}

type Row = Record<Field, Version>;

const NOTHING: Version = { id: 0, value: null, seen: new Set([0]) };

const DAY_MS = 86_400_000;

/** A value that no other edit makes; sometimes none. */
function valueOf(field: Field, number: number, isEmpty: boolean): unknown {
	if (isEmpty && field !== 'name') return null;
	if (field === 'size') return number;
	if (field === 'due') return new Date(number * DAY_MS).toISOString().slice(0, 10);
	if (field === 'seen') return new Date(number * DAY_MS + number).toISOString();
	return `value ${number}${number % 7 === 0 ? ', longer than what the state can show of it' : ''}`;
}

const asRead = (field: Field, value: unknown) => {
	if (value === undefined || value === '') return null;
	if (field === 'due' && typeof value === 'string') return value.slice(0, 10);
	return field === 'seen' && typeof value === 'string' ? new Date(value).toISOString() : value;
};

interface Result {
	code: string;
	json: IDataObject;
}

class World {
	readonly crm = new Map<string, Row>();
	/** What the table holds, as far as the checker knows. */
	readonly table = new Map<string, Row>();
	/** What the other system's list may still show in place of what the sync wrote there. */
	readonly lagging = new Map<string, Partial<Record<Field, { shown: Version; written: Version }>>>();
	/**
	 * The values that both sides had last. One that is back at it between two runs looks unchanged, and
	 * an empty side is filled before there is one.
	 */
	readonly agreed = new Map<string, unknown>();
	readonly wrong: string[] = [];
	readonly log: string[] = [];
	/** The fields that people changed here since the last events, to values that no field had before. */
	readonly editedHere = new Set<string>();
	readonly seen: Record<string, number> = { edits: 0, 'sent back': 0, written: 0, conflicts: 0, faults: 0, lagged: 0, events: 0 };
	readonly slot: MatrixSandbox;
	readonly random: SeededRandom;
	#number = 0;

	constructor(slot: MatrixSandbox, random: SeededRandom) {
		this.slot = slot;
		this.random = random;
	}

	/** Whether a copy of one version loses another, which stood in its place. */
	loses(name: string, from: Version, old: Version) {
		return !from.seen.has(old.id) && !isDeepStrictEqual(old.value, this.agreed.get(name) ?? null);
	}

	edited({ seen, value }: Version, field: Field): Version {
		this.#number += 1;
		const id = this.#number;
		// What is empty already is not emptied.
		const isEmptied = value !== null && this.random.happens(0.15);
		return { id, value: valueOf(field, id, isEmptied), seen: new Set([...seen, id]) };
	}

	newRow = (isPart = false): Row =>
		Object.fromEntries(
			FIELDS.map((field) => [field, isPart && field !== 'name' && this.random.happens(0.4) ? NOTHING : this.edited(NOTHING, field)]),
		) as Row;

	async stored(): Promise<Map<string, StoredRecord>> {
		const records = await this.slot.sandbox.admin.records(APP, TABLE);
		return new Map(records.map((record) => [String(record.fields.code), record]));
	}

	/** People edit both sides. */
	async edit() {
		const { random, crm, table, seen } = this;
		const records = await this.stored();
		for (const [rows, isHere] of [[crm, false] as const, [table, true] as const]) {
			for (const [code, row] of rows) {
				if (!random.happens(0.5)) continue;
				const field = random.of(...FIELDS);
				const version = this.edited(row[field], field);
				rows.set(code, { ...row, [field]: version });
				seen.edits! += 1;
				this.log.push(`${isHere ? 'here' : 'there'} ${code}.${field} = ${String(version.value)} (${version.id})`);
				if (!isHere) continue;
				if (version.value !== null && this.agreed.has(`${code}.${field}`)) this.editedHere.add(`${code}.${field}`);
				const path = `/apps/${APP}/tables/${TABLE}/data/${records.get(code)!.id}`;
				await this.slot.requestAsOtherClient('PATCH', path, { fields: { [field]: version.value } });
			}
		}
	}

	/** Runs the node, and compares what it did with what it may do. */
	async run(items: Map<string, Row>, rules: FaultRule[]): Promise<Result[]> {
		const { slot, table, wrong, seen, editedHere } = this;
		const codes = [...items.keys()];
		// What a run has seen, it returns itself.
		for (const code of codes) for (const field of FIELDS) editedHere.delete(`${code}.${field}`);
		await slot.begin(rules);
		const result = await slot.run(TIMEOUT_S, {
			input: itemsOf(codes.map((code) => ({ code, ...rowValues(items.get(code)!) }))),
			onError: 'continueRegularOutput',
			parameters: {
				resource: 'record',
				operation: 'upsert',
				...tableParameters(),
				columns: automatic,
				options: {
					batchSize: this.random.of(0, 2),
					inputValues: { settings: { emptyValues: 'clear' } },
					twoWay: { settings: { stateField: 'agreed', maxChanges: 100 } },
				},
			},
		});
		const { requests } = await slot.truth();
		this.log.push(...requests.map(describeRequest), result.error?.message ?? 'no error');
		if (requests.some(({ faults }) => faults.length > 0)) seen.faults! += 1;
		const output = result.error ? [] : result.output('Data Platform');
		const results = output.map(({ json, pairedItem }) => ({ code: codes[(pairedItem as { item: number }).item]!, json }));
		for (const { code, json } of results) this.log.push(`${code}: ${JSON.stringify(json)}`);
		const done = new Set(results.filter(({ json }) => json.error === undefined).map(({ code }) => code));
		for (const [code, { fields }] of await this.stored()) {
			const listed = items.get(code);
			const row = table.get(code) ?? emptyRow;
			const next = { ...row };
			for (const field of FIELDS) {
				const value = asRead(field, fields[field]);
				if (isDeepStrictEqual(value, row[field].value)) continue;
				const from = listed?.[field];
				if (!from || !isDeepStrictEqual(asRead(field, from.value), value)) {
					wrong.push(`${code}.${field} is ${String(value)}, which nobody gave`);
				} else if (this.loses(`${code}.${field}`, from, row[field])) {
					wrong.push(`${code}.${field}: ${String(row[field].value)} was lost, ${String(value)} was written`);
				}
				if (from) next[field] = from;
				seen.written! += 1;
			}
			table.set(code, next);
			for (const field of FIELDS) {
				const { value } = next[field];
				if (listed && done.has(code) && isDeepStrictEqual(asRead(field, listed[field].value), value))
					this.agreed.set(`${code}.${field}`, value);
			}
		}
		return results;
	}

	/**
	 * Runs the node for the records of events, each with what the other system has at that moment.
	 *
	 * @returns how many there were
	 */
	async follow(next: () => Promise<IDataObject[]>, isQuiet: boolean): Promise<number> {
		const { slot, table, editedHere, wrong, seen } = this;
		await slot.begin([]);
		const events = await next();
		// While the platform has asked another run to wait, the trigger asks nothing: it emits later.
		if ((await slot.truth()).requests.length === 0) return 0;
		for (const { code, sendBack, ...event } of events) {
			this.log.push(`event ${String(code)} ${JSON.stringify(sendBack ?? event)}`);
			for (const [field, value] of Object.entries((sendBack ?? {}) as IDataObject)) {
				const name = `${String(code)}.${field}`;
				editedHere.delete(name);
				if (isDeepStrictEqual(asRead(field as Field, value), table.get(String(code))![field as Field].value)) continue;
				wrong.push(`an event has ${String(value)} as ${name}`);
			}
		}
		for (const name of editedHere) wrong.push(`no event for ${name}`);
		editedHere.clear();
		seen.events! += events.length;
		const items = [...this.crm].filter(([code]) => events.some((event) => event.code === code));
		if (items.length > 0) this.take(await this.run(new Map(items), isQuiet ? [] : drawRules(this.random)), isQuiet);
		return items.length;
	}

	/** What the list of the other system shows. */
	listed(isQuiet: boolean): Map<string, Row> {
		const { crm, lagging, random, seen } = this;
		const rows = [...crm].map(([code, row]): [string, Row] => {
			const old = Object.entries(isQuiet ? {} : (lagging.get(code) ?? {})).filter(
				([field, { written }]) => row[field as Field] === written,
			);
			if (old.length === 0 || !random.happens(0.5)) return [code, row];
			seen.lagged! += 1;
			return [code, { ...row, ...Object.fromEntries(old.map(([field, { shown }]) => [field, shown])) }];
		});
		lagging.clear();
		return new Map(rows.filter(() => isQuiet || random.happens(0.9)));
	}

	/** The other system takes what goes back. */
	take(results: Result[], isQuiet: boolean): number {
		const { crm, table, lagging, random, wrong, seen } = this;
		let count = 0;
		for (const { code, json } of results) {
			const sendBack = json.sendBack as IDataObject | undefined;
			if (!sendBack || !(isQuiet || random.happens(0.8))) continue;
			const row = { ...crm.get(code)! };
			const lag: Partial<Record<Field, { shown: Version; written: Version }>> = {};
			for (const [key, value] of Object.entries(sendBack)) {
				const field = key as Field;
				const from = table.get(code)![field];
				if (!isDeepStrictEqual(asRead(field, value), from.value)) wrong.push(`${code}.${field}: ${String(value)} went back`);
				const name = `${code}.${field}`;
				if (this.loses(name, from, row[field])) wrong.push(`${name}: ${String(row[field].value)} was lost there`);
				lag[field] = { shown: row[field], written: from };
				row[field] = from;
				seen['sent back']! += 1;
			}
			crm.set(code, row);
			lagging.set(code, lag);
			count += 1;
		}
		return count;
	}

	/** A person decides conflicts: the other system gets what stands here. */
	resolve(results: Result[]) {
		for (const { code, json } of results) {
			const conflicts = (json.conflicts ?? []) as Array<{ field: Field }>;
			this.seen.conflicts! += conflicts.length;
			if (!this.random.happens(0.4)) continue;
			for (const { field } of conflicts) {
				const [here, there] = [this.table, this.crm].map((rows) => rows.get(code)![field]) as [Version, Version];
				const both = { ...here, seen: new Set([...here.seen, ...there.seen]) };
				for (const rows of [this.table, this.crm]) rows.set(code, { ...rows.get(code)!, [field]: both });
				this.log.push(`decided ${code}.${field} = ${String(both.value)}`);
			}
		}
	}
}

const emptyRow = Object.fromEntries(FIELDS.map((field) => [field, NOTHING])) as Row;

const rowValues = (row: Row): IDataObject => Object.fromEntries(FIELDS.map((field) => [field, row[field].value])) as IDataObject;

const NAMES = FAULT_NAMES.filter((name) => name !== 'reordered');

const drawRules = (random: SeededRandom): FaultRule[] =>
	Array.from({ length: random.of(0, 0, 1, 1, 2) }, () => {
		const name = NAMES[random.between(0, NAMES.length - 1)]!;
		const { fault } = FAULTS[name];
		// A list that lacks records without a word is no fault of a read.
		const path = 'isBulk' in FAULTS[name] ? '/data/bulk' : random.of('/data/', '/');
		return { fault: fault(2), match: { path }, when: { nth: [random.between(1, 5)] } };
	});

/** Returns the events since the last call: of a trigger, or of Get Changes. */
async function watchTable(slot: MatrixSandbox, isPolled: boolean): Promise<() => Promise<IDataObject[]>> {
	const parameters = { ...tableParameters(), startFrom: 'now', options: { stateField: 'agreed' } };
	await slot.begin([]);
	if (isPolled) {
		const watching = await watch(slot.credential, { triggerOn: 'createdOrUpdated', ...parameters });
		await watching.poll();
		return async () => ((await watching.poll()) ?? []).map(({ json }) => json);
	}
	let cursor: unknown = '';
	const next = async () => {
		const result = await slot.run(TIMEOUT_S, {
			input: itemsOf([{}]),
			parameters: { resource: 'record', operation: 'getChanges', ...parameters, cursor },
		});
		if (result.error) throw result.error;
		const [item] = result.output('Data Platform');
		({ cursor } = item!.json);
		return item!.json.changes as IDataObject[];
	};
	await next();
	return next;
}

const fieldsOf = (row: Row) =>
	Object.fromEntries(FIELDS.filter((field) => row[field].value !== null).map((field) => [field, row[field].value]));

async function runSchedule(slot: MatrixSandbox, seed: number): Promise<Verdict> {
	const random = new SeededRandom(seed);
	slot.platform = choosePlatform(random);
	const world = new World(slot, random);
	const codes = Array.from({ length: random.between(2, 6) }, (_, at) => `c${at}`);
	for (const code of codes) {
		world.crm.set(code, world.newRow(true));
		if (random.happens(0.5)) world.table.set(code, random.happens(0.4) ? world.crm.get(code)! : world.newRow(true));
	}
	const records = [...world.table].map(([code, row], at) => ({ id: idOf(at), fields: { code, ...fieldsOf(row) } }));
	await slot.createTable(records, true, [{ name: 'agreed', type: 'long_text' }]);
	const rounds = random.between(2, 6);
	const events = random.happens(0.5) ? await watchTable(slot, random.happens(0.5)) : undefined;
	for (let round = 0; round < rounds; round += 1) {
		if (round > 0) await world.edit();
		if (events && random.happens(0.7)) await world.follow(events, false);
		const results = await world.run(world.listed(false), drawRules(random));
		world.take(results, false);
		world.resolve(results);
	}
	let last: Result[] = [];
	for (let round = 0; round < QUIET_ROUNDS; round += 1) {
		world.log.push(`quiet round ${round}`);
		const isSilent = events && (await world.follow(events, true)) === 0;
		if (isSilent === false && round === QUIET_ROUNDS - 1) world.wrong.push('there are still events');
		last = await world.run(world.listed(true), []);
		const taken = world.take(last, true);
		const isLast = round === QUIET_ROUNDS - 1;
		if (isLast && taken > 0) world.wrong.push('the last run still sends back');
		if (isLast && last.some(({ json }) => json.outcome !== 'unchanged')) world.wrong.push('the last run still writes');
	}
	const open = new Set(
		last.flatMap(({ code, json }) => ((json.conflicts ?? []) as Array<{ field: string }>).map(({ field }) => `${code}.${field}`)),
	);
	for (const [code, row] of world.crm) {
		for (const field of FIELDS) {
			const [here, there] = [world.table.get(code)?.[field].value, row[field].value];
			const isEqual = isDeepStrictEqual(here, there);
			if (isEqual === open.has(`${code}.${field}`)) {
				world.wrong.push(`${code}.${field} is ${String(here)} here, ${String(there)} there, and ${isEqual ? 'a' : 'no'} conflict`);
			}
		}
	}
	return { problems: world.wrong, evidence: world.log, seen: world.seen };
}

const thread = await startSandboxThread(Math.min(slots, schedules));
const results = new Results();
console.log(`${schedules} schedules from seed ${first} on`);
await results.runAll(
	thread.sandboxes.map((sandbox) => new MatrixSandbox(sandbox)),
	seedsFrom(first, schedules),
	async (slot, seed) => await results.run('two-way sync', `twoWay --schedules 1 --seed ${seed}`, async () => await runSchedule(slot, seed)),
);
await thread.stop();
const unseen = [...results.seen].filter(([, count]) => count === 0);
for (const [name] of schedules >= 100 ? unseen : []) results.fail(`Never seen: ${name}`);
results.end();
