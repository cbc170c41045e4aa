/** `checkbox`. */
import { getOwn } from '../../transport/json';
import { problem, showValue } from '../convert';
import { sameBoolean } from '../equality';
import { checkboxRemedy, YES_AND_NO } from '../remedies';
import { isCleared, USUAL, type FieldType } from '../fieldType';

const BOOLEAN_WORDS: Record<string, boolean> = { true: true, false: false };

/** Words for true and false in files. */
const TEXT_WORDS: Record<string, boolean> = {
	...Object.fromEntries(YES_AND_NO.map(([yes]) => [yes, true])),
	...Object.fromEntries(YES_AND_NO.map(([, no]) => [no, false])),
};

// n8n's own switch has no third state: it would write false to a field that nobody touched.
const YES_OR_NO = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

export const checkbox: FieldType = {
	...USUAL,
	convert: (value) => {
		const result =
			typeof value === 'string' ? getOwn(BOOLEAN_WORDS, value.trim().toLowerCase()) : value;
		if (typeof result === 'boolean') return { value: result };
		return problem(`accepts true or false, not ${showValue(value)}`);
	},
	remedy: checkboxRemedy,
	parse: (text) => ({ value: getOwn(TEXT_WORDS, text.trim().toLowerCase() || ' ') ?? text }),
	equals: sameBoolean,
	// The platform may show a checkbox without a value as false.
	isEmpty: (stored) => (stored === false ? undefined : isCleared(stored)),
	editor: { type: 'string', choices: () => YES_OR_NO },
	comparison: 'boolean',
};
