import type { Resource } from '../../execution/operation';
import { get } from './get';
import { getMany } from './getMany';

export const application: Resource = {
	value: 'application',
	name: 'Application',
	operations: [get, getMany],
};
