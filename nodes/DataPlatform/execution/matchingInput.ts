/**
 * How an operation finds its records, from the parameters of `descriptions/matching`.
 */
import type { TableDefinition } from '../api/types';
import type { Matching, MatchRules } from '../bulk/matching';
import { keyField, type MatchOn, type WriteMode } from '../bulk/plan';
import { InputError } from '../transport/errors';
import { requireChoice, type RunContext } from './run';

export type MatchParameter =
	| 'matchOn'
	| 'matchFields'
	| 'options.ifFound'
	| 'options.ifMissing'
	| 'options.multipleMatches';

const CHOICES = {
	matchOn: ['importKey', 'recordId', 'fields'],
	ifFound: ['update', 'skip'],
	ifMissing: ['create', 'skip', 'error'],
	multipleMatches: ['error', 'first', 'all'],
} as const;

const LABELS: Record<keyof typeof CHOICES, string> = {
	matchOn: 'Match On',
	ifFound: 'If Found',
	ifMissing: 'If Missing',
	multipleMatches: 'Multiple Matches',
};

/** @throws {InputError} where an expression gives something else */
const choice = <Name extends keyof typeof CHOICES>(
	name: Name,
	value: unknown,
	preset: (typeof CHOICES)[Name][number],
): (typeof CHOICES)[Name][number] =>
	value === undefined
		? preset
		: requireChoice<(typeof CHOICES)[Name][number]>(value, LABELS[name], CHOICES[name]);

/** What an operation does unless the user says otherwise. */
const presets = (mode: WriteMode) =>
	mode === 'upsert'
		? ({ matchOn: 'importKey', ifMissing: 'create' } as const)
		: ({ matchOn: 'recordId', ifMissing: 'error' } as const);

/**
 * How items find their records; undefined where the platform itself finds them in the way that is
 * asked for: by import key to create or update, by id to update.
 *
 * @param importKey the import key's name where the table's definition does not mark it
 * @throws {InputError}
 */
export function matchingOf(
	run: RunContext<MatchParameter>,
	index: number,
	mode: WriteMode,
	table: TableDefinition,
	importKey?: string,
): Matching | undefined {
	if (mode === 'create') return undefined;
	const preset = presets(mode);
	const kind = choice('matchOn', run.parameter('matchOn', index), preset.matchOn);
	// Where records are only updated, 'create' is left from an operation that creates them.
	const ifMissing = choice(
		'ifMissing',
		run.parameter('options.ifMissing', index),
		preset.ifMissing,
	);
	const rules: MatchRules = {
		ifFound: choice('ifFound', run.parameter('options.ifFound', index), 'update'),
		ifMissing: ifMissing === 'create' ? preset.ifMissing : ifMissing,
		multipleMatches: choice(
			'multipleMatches',
			run.parameter('options.multipleMatches', index),
			'error',
		),
	};
	const key = keyField(table, importKey)?.name;
	const on = matchOn(run, index, kind, table, key);
	const isKey = on !== 'recordId' && on.length === 1 && on[0] === key;
	const isPlain =
		rules.ifFound === 'update' &&
		rules.ifMissing === preset.ifMissing &&
		rules.multipleMatches !== 'all';
	// An upsert never finds several: the platform itself knows what its key means.
	const isDoneByPlatform = mode === 'upsert' ? isKey : on === 'recordId';
	return isPlain && isDoneByPlatform ? undefined : { on, ...rules };
}

function matchOn(
	run: RunContext<MatchParameter>,
	index: number,
	kind: (typeof CHOICES)['matchOn'][number],
	table: TableDefinition,
	key: string | undefined,
): MatchOn {
	if (kind === 'recordId') return 'recordId';
	if (kind === 'importKey') {
		if (key !== undefined) return [key];
		throw new InputError(`Table '${table.header}' has no import key field`, {
			field: LABELS.matchOn,
			hint: { code: 'markImportKey' },
		});
	}
	const names = run.names('matchFields', 'Match Field Names or IDs', index);
	if (names.length > 0) return names;
	throw new InputError("'Match Field Names or IDs' is empty", {
		field: 'Match Field Names or IDs',
		hint: { code: 'correctMatchFields' },
	});
}
