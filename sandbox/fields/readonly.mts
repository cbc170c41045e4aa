import { getOwn } from '../state/model.mts';
import type { Codec } from './codec.mts';

/** `system_type`: shows a property of the record (`metadata.source`). */
export const systemType: Codec = {
	serialize(_value, field, { record, time }) {
		const source = field.metadata.source ?? 'ver';
		const isTime = source === 'created' || source === 'modified';
		return isTime ? time(record[source]) : record[source];
	},
};

/** `calculated`: text composed of other fields (`metadata.template`). */
export const calculated: Codec = {
	serialize(_value, field, { record }) {
		return (field.metadata.template ?? '').replace(/\{(\w+)\}/g, (_match, name: string) =>
			String(getOwn(record.fields, name) ?? ''),
		);
	},
};
