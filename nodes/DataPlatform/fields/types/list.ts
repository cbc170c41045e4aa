/** `dropdownmulti`, `chips`: lists of texts. */
import { fromJsonText, problem, showValue } from '../convert';
import { sameTexts } from '../equality';
import { USUAL, type FieldType } from '../fieldType';
import { toText } from './text';

/** A JSON list, or entries with a separator. */
export const parseList: FieldType['parse'] = (text, { listSeparator }) => {
	const value = fromJsonText(text);
	if (typeof value !== 'string' || listSeparator === '') return { value };
	const entries = value.split(listSeparator).map((entry) => entry.trim());
	return { value: entries.filter((entry) => entry !== '') };
};

export const texts: FieldType = {
	...USUAL,
	parse: parseList,
	convert: (raw) => {
		const value = fromJsonText(raw);
		const entries: unknown[] = [value].flat();
		const list = entries.map(toText);
		if (list.every((entry) => entry !== undefined)) return { value: list };
		return problem(`accepts a list of texts, not ${showValue(raw)}`);
	},
	equals: sameTexts,
	editor: { type: 'string', hint: 'JSON list' },
};
