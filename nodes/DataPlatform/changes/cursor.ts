/**
 * The cursor of Get Changes: the tracker's state as one text that a workflow can keep anywhere. It
 * names its table, filter and saved view, and ends with a checksum.
 *
 *     const text = toCursor(state, source);
 *     fromCursor(text, source); // the state; an error if the text is for another table
 */
import { EXPRESSION_OF_DATE, LABELS } from '../labels';
import { InputError } from '../transport/errors';
import { packJson, shortHash, unpackJson } from '../api/packing';
import { LIMITS, type ChangeState, type Limits } from './tracker';

/** The version of the cursor's format. Cursors of other versions are rejected. */
const FORMAT = '1';

/**
 * Limits of the cursor's length: about 80 characters for each record that changed within the
 * overlap (at most 5,000), and, while there is a backlog, 8 for each record emitted before (at most
 * 5,000).
 */
export const CURSOR_LIMITS: Readonly<Limits> = { ...LIMITS, hashes: 5000 };

/** What a cursor was made for. */
interface CursorSource {
	/** Identifies the platform and the table. */
	table: string;
	/** Identifies the filter and the saved view. */
	selection: string;
}

const CHECKSUM_LENGTH = 11;
const SOURCE_LENGTH = 8;

/** The state as text of letters, digits and `-_.`, without the digests of watched fields. */
export function toCursor(state: ChangeState, { table, selection }: CursorSource) {
	const text = [
		FORMAT,
		shortHash(table, SOURCE_LENGTH),
		shortHash(selection, SOURCE_LENGTH),
		packJson({ ...state, digests: undefined }),
	].join('.');
	return `${text}.${shortHash(text, CHECKSUM_LENGTH)}`;
}

const START_ANEW = 'To start over, leave the cursor empty.';

const GO_ON_WITHOUT = `To go on without it, leave the cursor empty and set '${LABELS.startFrom}' to 'A Date': the 'modified' of the last change that was returned, or earlier, as an expression such as ${EXPRESSION_OF_DATE}.`;

const wrong = (message: string, hint: string, goOn = START_ANEW) =>
	new InputError(message, { hint: `${hint} ${goOn}` });

/**
 * The state in a cursor.
 *
 * @throws {InputError} if the cursor is damaged, has another format, or was made for another table,
 * filter or saved view. The message lacks the parameter's label.
 */
export function fromCursor(text: string, { table, selection }: CursorSource): ChangeState {
	const [format, ofTable, ofSelection, state] = text.split('.');
	const body = text.slice(0, -CHECKSUM_LENGTH - 1);
	if (text !== `${body}.${shortHash(body, CHECKSUM_LENGTH)}`) {
		throw wrong(
			"can't be read: a part of it is missing or was changed",
			"Pass on the 'cursor' of an earlier Get Changes as it was, whole and unchanged.",
			GO_ON_WITHOUT,
		);
	}
	if (format !== FORMAT) {
		throw wrong(
			'was made by another version of this node, whose format this one does not read',
			'Use the version that made it.',
			GO_ON_WITHOUT,
		);
	}
	if (ofTable !== shortHash(table, SOURCE_LENGTH)) {
		throw wrong(
			'belongs to another table',
			'Each table has a cursor of its own; another base URL or application counts as another table.',
		);
	}
	if (ofSelection !== shortHash(selection, SOURCE_LENGTH)) {
		throw wrong(
			'was made with another filter or saved view',
			'What changed before would be missed. Restore the filter and the saved view.',
		);
	}
	return unpackJson(state!) as ChangeState;
}
