/**
 * Sync with random tables, items, guards and faults, through n8n's engine: a removed record
 * was never in the input, and a record that should be gone but isn't is reported. `npm run check --
 * sync [--schedules N] [--seed N]`.
 */
import type { IDataObject, INode } from 'n8n-workflow';
import type { FaultRule, StoredRecord, StoredVersion } from '../../../harness/sandboxAdmin.mts';
import { readOptions } from '../../support/options.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { automatic } from '../../support/engine/outsideJest.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { idOf, POISON } from '../faults/constants.mts';
import { FAULT_NAMES, FAULTS } from '../faults/faults.mts';
import type { OtherWrite } from '../faults/otherWriter.mts';
import { choosePlatform, type Platform } from '../faults/platform.mts';
import { describeRequest } from '../faults/sandboxSlot.mts';
import { MatrixSandbox, type Truth } from '../matrix/matrixSandbox.mts';
import { conditions, itemsOf, tableParameters } from '../matrix/scenarios/scenario.mts';
import { Results, seedsFrom, type Verdict } from '../../support/results.mts';

const { schedules, slots, seed: first } = readOptions({ schedules: 500, slots: 8 });

/** Longer than a request takes, shorter than the faults that never respond. */
const TIMEOUT_S = 1;

/** The value to set in records that are missing from the input. */
const MARK = 999;

const code = (index: number) => `c${index}`;
const inScope = ({ fields }: Pick<StoredRecord, 'fields'>) => fields.group === 'a';

interface Schedule {
	stored: Array<{ id: string; fields: Record<string, unknown> }>;
	items: IDataObject[];
	isDelete: boolean;
	isScoped: boolean;
	maximum: number;
	share: number;
	despiteFailures: boolean;
	onError: INode['onError'];
	tries: number;
	options: Record<string, unknown>;
	rules: FaultRule[];
	platform: Platform;
	other?: OtherWrite;
}

function draw(seed: number): Schedule {
	const random = new SeededRandom(seed);
	const size = random.between(1, 30);
	const all = Array.from({ length: size }, (_, index) => index);
	const stored = all
		.filter(() => random.happens(0.75))
		.map((index) => ({
			id: idOf(index),
			fields: { code: code(index), name: `old ${index}`, size: 1, group: random.happens(0.7) ? 'a' : 'b' },
		}));
	const kept = random.of(0.3, 0.8, 0.95, 1);
	const items: IDataObject[] = all
		.filter(() => random.happens(kept))
		.map((index) => ({ code: code(index), name: random.happens(0.5) ? `old ${index}` : `new ${index}` }));
	if (items.length === 0) items.push({ code: code(0), name: 'new 0' });
	if (random.happens(0.15)) items.push({ ...items[random.between(0, items.length - 1)]!, name: 'twice' });
	if (random.happens(0.1)) items.push({ code: code(77), size: 'no number', name: 'x' });
	if (random.happens(0.1)) items.push({ name: 'without a key' });
	if (random.happens(0.1)) items.push({ code: code(78), name: POISON });
	// In responses to upserts, only the order shows which item a record belongs to.
	const names = FAULT_NAMES.filter((name) => name !== 'reordered');
	const rules = Array.from({ length: random.of(0, 1, 1, 2, 3) }, (): FaultRule => {
		const { fault } = FAULTS[names[random.between(0, names.length - 1)]!];
		const place = random.of<FaultRule['match'] | undefined>(
			undefined,
			{ path: '/data/bulk$' },
			{ method: 'DELETE' },
			{ path: '/data/filter$' },
			{ path: '/count' },
		);
		const when = random.of<FaultRule['when']>(
			{ nth: [random.between(1, 6)] },
			{ first: random.between(1, 3) },
			{ probability: 0.3, seed: seed % 1000 },
			undefined,
		);
		return { fault: fault(2), ...(place && { match: place }), ...(when && { when }) };
	});
	const onError = random.of<INode['onError']>('stopWorkflow', 'continueRegularOutput', 'continueErrorOutput');
	return {
		stored,
		items,
		isDelete: random.happens(0.5),
		isScoped: random.happens(0.5),
		maximum: random.of(0, 3, 100, 100, 100, 100),
		share: random.of(20, 50, 100, 100, 100),
		despiteFailures: random.happens(0.3),
		onError,
		tries: onError === 'stopWorkflow' && random.happens(0.4) ? 2 : 1,
		options: { batchSize: random.of(0, 2, 5), dryRun: random.happens(0.05) },
		rules,
		platform: choosePlatform(random),
		...(random.happens(0.3) && { other: drawOther(random, size, String(items[0]!.code)) }),
	};
}

/** Another writer adds a record, deletes one, or moves one out of the scope or to another code. */
function drawOther(random: SeededRandom, size: number, used: string): OtherWrite {
	const before = random.between(3, 12);
	const id = idOf(random.between(0, size - 1));
	return random.of<OtherWrite>(
		{ before, action: 'insert', fields: { code: 'theirs', name: 'theirs', group: 'a' } },
		{ before, action: 'delete', id },
		{ before, action: 'update', id, fields: random.of({ group: 'b' }, { code: code(size + 1) }, { code: used }) },
	);
}

interface Reported {
	outcome?: string;
	id?: string;
}

interface Evidence extends Truth {
	items: Reported[];
	others: Reported[];
	error?: string;
	hints: string[];
	output: string[];
}

async function execute(slot: MatrixSandbox, schedule: Schedule): Promise<Evidence> {
	const { isDelete, isScoped, other, options, onError, tries } = schedule;
	slot.platform = schedule.platform;
	await slot.createTable(schedule.stored);
	await slot.begin(schedule.rules);
	const parameters = {
		resource: 'record',
		operation: 'sync',
		...tableParameters(),
		columns: automatic,
		missingRecords: isDelete ? 'delete' : 'setFields',
		...(!isDelete && { fieldsToSet: { entry: [{ field: 'size', value: String(MARK) }] } }),
		...(isScoped && conditions(['group', 'eq', 'a'])),
		maxRecordsToRemove: schedule.maximum,
		maxShareToRemove: schedule.share,
		removeDespiteFailures: schedule.despiteFailures,
		options,
	};
	const retry = tries > 1 ? { maxTries: tries } : undefined;
	const result = await slot.run(TIMEOUT_S, { parameters, input: itemsOf(schedule.items), onError, retry }, other);
	const truth = await slot.truth();
	const entries = result.error ? [] : [...result.output('Data Platform', 0), ...result.output('Data Platform', 1)];
	const read = ({ json }: (typeof entries)[number]): Reported => (json.details as Reported | undefined) ?? (json as Reported);
	const isOther = ({ pairedItem }: (typeof entries)[number]) => Array.isArray(pairedItem) && pairedItem.length === 0;
	return {
		...truth,
		items: entries.filter((entry) => !isOther(entry)).map(read),
		others: entries.filter(isOther).map(read),
		error: result.error?.message,
		hints: result.hints,
		output: entries.map(({ json }) => JSON.stringify(json)),
	};
}

const isSuccess = ({ outcome }: Reported) =>
	['inserted', 'updated', 'unchanged', 'written', 'skipped', 'deleted', 'marked'].includes(outcome ?? '');

/** What is wrong with a run; empty if everything is right. */
function findErrors(schedule: Schedule, evidence: Evidence): string[] {
	const { isDelete, isScoped, items, options } = schedule;
	const { before, history, written, error, others } = evidence;
	const wrong: string[] = [];
	const codes = new Set(items.map((item) => item.code));
	const isMember = (record: Pick<StoredRecord, 'fields'>) => !isScoped || inScope(record);
	const own = new Set(written);
	const touched = new Set(history.filter((version) => !own.has(version)).map(({ id }) => id));
	const isRemoval = ({ action, fields }: StoredVersion) => (isDelete ? action === 'deleted' : fields?.size === MARK);
	const removed = written.filter(isRemoval);
	const removedIds = new Set(removed.map(({ id }) => id));
	const say = (id: string, text: string) => wrong.push(`record ${id}: ${text}`);

	if (!isDelete && written.some(({ action }) => action === 'deleted')) wrong.push('it deleted');
	if (options.dryRun && written.length > 0) wrong.push('a dry run wrote');
	for (const id of removedIds) {
		const was = before.find((record) => record.id === id);
		if (touched.has(id)) continue;
		if (!was) say(id, 'removed, though it was not there before');
		else if (codes.has(was.fields.code as string)) say(id, 'removed, though it is in the input');
		else if (!isMember(was)) say(id, 'removed, though it is outside the scope');
	}
	if (removedIds.size > schedule.maximum) wrong.push('more were removed than the maximum');
	const scope = before.filter(isMember).length;
	// Another writer may make the scope larger or smaller.
	const slack = touched.size;
	// Records that only a response has make the scope look larger.
	const isLong = schedule.rules.some(({ fault }) => fault.kind === 'moreRecords');
	if (!isLong && removedIds.size * 100 > (scope + slack) * schedule.share) wrong.push('more than the share');
	if (items.some((item) => item.code === undefined) && removedIds.size > 0) {
		wrong.push('removed, though an item has no key');
	}
	const areAllDone = evidence.items.every(isSuccess);
	if (!error && !areAllDone && !schedule.despiteFailures && removedIds.size > 0) {
		wrong.push('removed, though an item failed');
	}

	const isToldForAll =
		error !== undefined ||
		evidence.items.every((item) => !isSuccess(item)) ||
		evidence.hints.some((text) => text.startsWith('No record was removed'));
	// What a list lacks right before its removal stays.
	const isShort = schedule.rules.some(({ fault }) => fault.kind === 'fewerRecords');
	for (const { id, fields } of before) {
		if (touched.has(id)) continue;
		const reports = others.filter((other) => other.id === id);
		const isMissing = !codes.has(fields.code as string) && isMember({ fields });
		const isGone = removedIds.has(id);
		if (!isMissing && reports.length > 0) say(id, `reported as ${reports[0]!.outcome}`);
		if (!isMissing || error) continue;
		const [report] = reports;
		if (reports.length > 1) say(id, 'reported more than once');
		if (!report && !isToldForAll) say(id, `${isGone ? 'removed' : 'left'}, not reported`);
		const isRemoved = report?.outcome === 'deleted' || report?.outcome === 'marked';
		if (isRemoved && !isGone && !options.dryRun) say(id, 'reported as removed, but it is there');
		if (report?.outcome === 'failed' && isGone) say(id, 'reported as failed, but it is removed');
		if (report?.outcome === 'skipped' && !isGone && !isShort) say(id, 'skipped, though it is missing');
	}
	const known = new Set([...before.map(({ id }) => id), ...touched]);
	for (const { id, outcome } of others) {
		// A response may list records that don't exist.
		if (!known.has(id ?? '') && isSuccess({ outcome }) && outcome !== 'skipped') {
			say(String(id), 'was never there');
		}
	}
	return wrong;
}

const thread = await startSandboxThread(Math.min(slots, schedules));
const results = new Results();

async function runSchedule(slot: MatrixSandbox, seed: number): Promise<Verdict> {
	const schedule = draw(seed);
	const evidence = await execute(slot, schedule);
	const { error, items, others, requests, output, hints } = evidence;
	return {
		problems: findErrors(schedule, evidence),
		evidence: [JSON.stringify(schedule), ...requests.map(describeRequest), ...output, error ?? 'no error', ...hints],
		seen: {
			removed: others.filter(({ outcome }) => ['deleted', 'marked'].includes(outcome ?? '')).length,
			left: others.filter((other) => !isSuccess(other)).length,
			stopped: Number(error !== undefined),
			refused: Number(error?.startsWith('Nothing was written') ?? false),
			faults: Number(requests.some(({ faults }) => faults.length > 0)),
			beside: Number(evidence.isOtherMet),
			items: items.length,
		},
	};
}

console.log(`${schedules} schedules from seed ${first} on`);
await results.runAll(
	thread.sandboxes.map((sandbox) => new MatrixSandbox(sandbox)),
	seedsFrom(first, schedules),
	async (slot, seed) => await results.run('sync', `sync --schedules 1 --seed ${seed}`, async () => await runSchedule(slot, seed)),
);
await thread.stop();
const unseen = [...results.seen].filter(([, count]) => count === 0);
for (const [name] of schedules >= 500 ? unseen : []) results.fail(`Never seen: ${name}`);
results.end();
