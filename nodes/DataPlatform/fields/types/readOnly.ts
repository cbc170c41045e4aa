/** Fields that the platform fills in (`system_type`, `calculated`), and fields without data. */
import { problem } from '../convert';
import { unknownType } from './text';
import type { FieldType } from '../fieldType';

export const readOnly: FieldType = {
	...unknownType,
	writtenBy: 'platform',
	convert: () => problem('is read-only'),
	key: 'never',
};

/** `buttonform`, `freehtmlinput`. */
export const displayOnly: FieldType = {
	...readOnly,
	writtenBy: 'nobody',
	convert: () => problem('holds no data'),
	comparison: 'presence',
};
