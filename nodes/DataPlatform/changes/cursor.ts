/**
 * The cursor of Get Changes: the tracker's state as one text that a workflow can keep anywhere. It
 * names its table, filter and saved view, and has a checksum.
 *
 *     const text = toCursor(state, source);
 *     fromCursor(text, source); // the state; an error if the text is for another table
 */
import { EXPRESSION_OF_DATE, LABELS } from '../labels';
import { InputError } from '../transport/errors';
import { seal, shortHash, unseal } from '../api/packing';
import { LIMITS, type ChangeState, type Limits } from './tracker';

/** The version of the cursor's format. Cursors of other versions are rejected. */
const FORMAT = 'cursor 2';

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

interface Cursor extends CursorSource {
	state: ChangeState;
}

const hashOf = (text: string) => shortHash(text, 8);

/** The state as text of letters, digits and `-_`, without the digests of watched fields. */
export function toCursor(state: ChangeState, { table, selection }: CursorSource) {
	const cursor: Cursor = {
		table: hashOf(table),
		selection: hashOf(selection),
		state: { ...state, digests: undefined },
	};
	return Buffer.from(seal(FORMAT, cursor)).toString('base64url');
}

const wrong = (message: string, hint: string) => new InputError(message, { hint });

/**
 * The state in a cursor.
 *
 * @throws {InputError} if the cursor is damaged, has another format, or was made for another table,
 * filter or saved view. The message lacks the parameter's label.
 */
export function fromCursor(text: string, { table, selection }: CursorSource): ChangeState {
	const sealed = Buffer.from(text, 'base64url').toString();
	const cursor = unseal(FORMAT, sealed) as Cursor | undefined;
	if (!cursor) {
		throw wrong(
			"can't be read: a part of it is missing or was changed, or another version of this node made it",
			`Pass on the 'cursor' of an earlier Get Changes as it was, whole and unchanged. To go on without it, leave the cursor empty and set '${LABELS.startFrom}' to 'A Date': the 'modified' of the last change that was returned, or earlier, as an expression such as ${EXPRESSION_OF_DATE}.`,
		);
	}
	if (cursor.table !== hashOf(table)) {
		throw wrong(
			'belongs to another table',
			'Each table has a cursor of its own; another base URL or application counts as another table. To start over, leave the cursor empty.',
		);
	}
	if (cursor.selection !== hashOf(selection)) {
		throw wrong(
			'was made with another filter or saved view',
			'What changed before would be missed. Restore the filter and the saved view. To start over, leave the cursor empty.',
		);
	}
	return cursor.state;
}
