/** `dropdownmulti`, `chips`: lists of texts. */
import { fromJsonText, problem, show } from '../convert';
import { sameTexts } from '../equality';
import { isCleared, lastValue, noChoices, type FieldType } from '../fieldType';
import { toText } from './text';

export const texts: FieldType = {
	writtenBy: 'clients',
	convert: (raw) => {
		const value = fromJsonText(raw);
		const list = (Array.isArray(value) ? (value as unknown[]) : [value]).map(toText);
		return list.every((entry) => entry !== undefined)
			? { value: list }
			: problem(`takes a list of texts, not ${show(raw)}`);
	},
	equals: sameTexts,
	isEmpty: isCleared,
	key: 'never',
	merge: lastValue,
	editor: { type: 'string', hint: 'JSON list', choices: noChoices },
	comparison: 'text',
	aggregations: [],
	holdsFiles: false,
};
