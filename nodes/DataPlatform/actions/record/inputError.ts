/**
 * The error of a run whose items have problems, if the node stops on errors.
 */
import { FailureKinds } from '../../run/failureKinds';
import { InputError } from '../../transport/errors';
import { counted, listed, shownCount } from '../../transport/messageText';
import type { RowProblem } from '../../bulk/terms';

const CORRECT_IT =
	"Correct the item: under 'Values to Send', or in the input if fields are mapped automatically.";

const COUNTED_FROM_0 =
	"Items are counted from 0, as in n8n's own errors. Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.";

/** How many different hints an error joins. */
const MAX_HINTS = 3;

/**
 * One error for all problems. None of the items that have them was sent.
 *
 * @param count of the run's items
 * @param written how many are written
 */
export function inputError(problems: RowProblem[], count: number, written: number): InputError {
	const sorted = [...problems].sort((a, b) => a.index - b.index);
	const { index: item, field } = sorted[0]!;
	const kinds = new FailureKinds();
	const firstOfKinds = sorted.filter((problem) => kinds.add(problem, problem.index));
	const hints = firstOfKinds.map(({ hint }) => hint);
	const advice = (usual?: string) =>
		[...new Set(hints.map((hint) => hint ?? usual))].filter(Boolean).slice(0, MAX_HINTS).join(' ');
	const nothing = written > 0 ? 'No further item was written' : 'Nothing was sent';
	if (count === 1) {
		const text = listed(sorted.map(({ message }) => message));
		return new InputError(`${nothing}: ${text}`, { item, field, hint: advice(CORRECT_IT) });
	}
	const wrong = new Set(sorted.map(({ index }) => index)).size;
	const causes = kinds.texts();
	const hint = [advice(), COUNTED_FROM_0].filter(Boolean).join(' ');
	const isOne = wrong === 1 && causes.length === 1;
	const what = isOne
		? causes[0]!
		: `${shownCount(wrong)} of ${counted(count, 'item')} have problems`;
	return new InputError(`${nothing}: ${what}`, {
		...{ item, field, hint },
		causes: isOne ? undefined : causes,
	});
}
