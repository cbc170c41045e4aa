/**
 * How an operation finds its records, from the parameters of `descriptions/matching`.
 */
import type { TableDefinition } from '../api/types';
import type { Matching, MatchRules } from '../bulk/matching';
import { keyField, type MatchOn, type WriteMode } from '../bulk/plan';
import { InputError } from '../transport/errors';
import type { RunContext } from './run';

export type MatchParameter =
	| 'matchOn'
	| 'matchFields'
	| 'options.ifFound'
	| 'options.ifMissing'
	| 'options.multipleMatches';

const MATCH_ON = ['importKey', 'recordId', 'fields'] as const;
const IF_FOUND = ['update', 'skip'] as const;
const IF_MISSING = ['create', 'skip', 'error'] as const;
const MULTIPLE_MATCHES = ['error', 'first', 'all'] as const;

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
	const kind = run.choice<(typeof MATCH_ON)[number]>(
		'matchOn',
		'Match On',
		index,
		MATCH_ON,
		preset.matchOn,
	);
	// Where records are only updated, 'create' is left from an operation that creates them.
	const ifMissing = run.choice<MatchRules['ifMissing']>(
		'options.ifMissing',
		'If Missing',
		index,
		IF_MISSING,
		preset.ifMissing,
	);
	const rules: MatchRules = {
		ifFound: run.choice('options.ifFound', 'If Found', index, IF_FOUND, 'update'),
		ifMissing: ifMissing === 'create' ? preset.ifMissing : ifMissing,
		multipleMatches: run.choice(
			'options.multipleMatches',
			'Multiple Matches',
			index,
			MULTIPLE_MATCHES,
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
	kind: (typeof MATCH_ON)[number],
	table: TableDefinition,
	key: string | undefined,
): MatchOn {
	if (kind === 'recordId') return 'recordId';
	if (kind === 'importKey') {
		if (key !== undefined) return [key];
		throw new InputError(`Table '${table.header}' has no import key field`, {
			field: 'Match On',
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
