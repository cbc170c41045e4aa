/**
 * The service's filter from the parameters of the filter builder (`descriptions/filter`).
 */
import {
	OPERATORS,
	OPERATORS_WITH_LIST,
	parseTree,
	type Condition,
	type Group,
} from '../api/filters';
import { InputError } from '../transport/errors';
import { parseJson } from '../transport/json';

/** The platform's `===`: n8n takes a value that begins with = for an expression. */
export const EXACTLY = 'exactly';

const takesList = (operator: string) =>
	(OPERATORS_WITH_LIST as readonly string[]).includes(operator);

type RawCondition = Record<string, unknown>;

interface RawGroup {
	matchType?: unknown;
	conditions?: { condition?: RawCondition[] };
}

const group = ({ matchType: how, conditions: given }: RawGroup): Group => ({
	filter: (given?.condition ?? []).map(condition),
	filterOperator: how === 'or' ? 'or' : 'and',
});

function condition({ field, operator, value }: RawCondition): Condition {
	if (typeof field !== 'string' || field === '') {
		throw new InputError('A condition of the filter names no field', {
			field: 'Conditions',
			hint: 'Choose a field, or remove the condition.',
		});
	}
	const name = operator === EXACTLY ? '===' : String(operator);
	if (!OPERATORS.includes(name)) {
		throw new InputError(`A condition of the filter has an unknown operator, '${name}'`, {
			field: 'Conditions',
			hint: `Operators are: ${OPERATORS.join(', ')}.`,
		});
	}
	if (!takesList(name)) return { field, operator: name, value: String(value ?? '') };
	const list = Array.isArray(value)
		? value.map(String)
		: String(value ?? '')
				.split(',')
				.map((entry) => entry.trim());
	return { field, operator: name, value: list };
}

function parseFilterTree(text: string): unknown {
	const value = parseJson(text);
	if (value !== undefined) return value;
	throw new InputError("'Filter Tree' is not valid JSON", {
		field: 'Filter Tree',
		hint: 'A filter is {"filter":[…],"filterOperator":"and"} or a list of conditions.',
	});
}

/**
 * The filter that is set; without conditions it matches every record.
 *
 * @param read gives a parameter's value, undefined where it has none
 * @throws {InputError} where it can't be read
 */
export function filterOf(read: (name: string) => unknown): Group {
	const filterMode = read('filterMode');
	if (filterMode === 'json') {
		const tree = read('filterTree');
		return parseTree(typeof tree === 'string' ? parseFilterTree(tree) : tree);
	}
	if (filterMode !== 'conditions') return { filter: [], filterOperator: 'and' };
	const grouped = (read('groups.group') ?? []) as RawGroup[];
	const { filter, filterOperator } = group({
		matchType: read('matchType'),
		conditions: { condition: (read('conditions.condition') ?? []) as RawCondition[] },
	});
	const inner = grouped.map(group).filter((entry) => entry.filter.length > 0);
	return { filter: [...filter, ...inner], filterOperator };
}
