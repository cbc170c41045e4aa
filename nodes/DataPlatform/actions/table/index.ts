import type { Resource } from '../../run/operation';
import { get } from './get';
import { getMany } from './getMany';

export const table: Resource = {
	value: 'table',
	name: 'Table',
	operations: [get, getMany],
};
