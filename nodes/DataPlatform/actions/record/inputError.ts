/**
 * The error of a run whose items have problems, if the node stops on errors.
 */
import { FailureKinds } from '../../run/failureKinds';
import { InputError } from '../../transport/errors';
import { listed } from '../../transport/messageText';
import type { Problem } from '../../bulk/terms';
import { omitUndefined } from '../../transport/json';

const CORRECT_IT =
	"Correct the item: under 'Values to Send', or in the input if fields are mapped automatically.";

const COUNTED_FROM_0 =
	"Items are counted from 0, as in n8n's own errors. Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.";

/** How many different hints an error joins. */
const MAX_HINTS = 3;

/** What the run has done before. */
interface Done {
	/** How many items it has. */
	items: number;
	/** How many of them are written. */
	written: number;
	/** How many linked records it has created. */
	linkedRecords: number;
}

function beginning({ written, linkedRecords }: Done): string {
	if (written > 0) return 'No further item was written';
	if (linkedRecords === 0) return 'Nothing was sent';
	return `No item was written (linked records created: ${linkedRecords})`;
}

/** One error for all problems. None of the items that have them was sent. */
export function inputError(problems: Problem[], done: Done): InputError {
	const sorted = [...problems].sort((a, b) => a.index - b.index);
	const { index: item, field } = sorted[0]!;
	const kinds = new FailureKinds();
	const firstOfKinds = sorted.filter((problem) =>
		kinds.add(problem.message, problem.index, omitUndefined({ field: problem.field })),
	);
	const hints = firstOfKinds.map(({ hint }) => hint);
	const advice = (usual?: string) =>
		[...new Set(hints.map((hint) => hint ?? usual))].filter(Boolean).slice(0, MAX_HINTS).join(' ');
	const nothing = beginning(done);
	if (done.items === 1) {
		const text = listed(sorted.map(({ message }) => message));
		return new InputError(`${nothing}: ${text}`, { item, field, hint: advice(CORRECT_IT) });
	}
	const count = new Set(sorted.map(({ index }) => index)).size;
	const what = count === 1 ? '1 item has problems' : `${count} items have problems`;
	return new InputError(`${nothing}. ${what}: ${kinds.text()}`, {
		item,
		field,
		hint: [advice(), COUNTED_FROM_0].filter(Boolean).join(' '),
	});
}
