import type { Field, FieldType } from '../state/model.mts';
import type { Codec } from './codec.mts';
import { files } from './files.mts';
import { multipleLink, singleLink } from './links.mts';
import {
	checkbox,
	chips,
	choice,
	choices,
	date,
	datetime,
	decimal,
	integer,
	money,
	text,
} from './plain.mts';
import { calculated, systemType } from './readonly.mts';
import { chat, checklist, moneyWithCurrency, urlLink } from './structured.mts';

/** Types that are part of a table's definition and never of its data. */
export const displayOnly: ReadonlySet<FieldType> = new Set(['buttonform', 'freehtmlinput']);

const codecs: Record<Exclude<FieldType, 'schema_link'>, Codec> = {
	text,
	long_text: text,
	markdown: text,
	radio: choice,
	dropdown: choice,
	number: integer,
	decimal,
	money,
	percentage: decimal,
	money_with_currency: moneyWithCurrency,
	checkbox,
	date,
	datetime,
	dropdownmulti: choices,
	chips,
	url_link: urlLink,
	checklist,
	chat,
	picture: files,
	file: files,
	buttonform: {},
	freehtmlinput: {},
	system_type: systemType,
	calculated,
};

/** How a field's values are parsed, serialized and compared. */
export function codecOf(field: Field): Codec {
	if (field.type === 'schema_link') return field.metadata.multiple ? multipleLink : singleLink;
	return codecs[field.type];
}
