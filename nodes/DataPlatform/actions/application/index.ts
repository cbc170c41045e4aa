import type { Resource } from '../../run/operation';
import { getMany } from './getMany';

export const application: Resource = {
	value: 'application',
	name: 'Application',
	operations: [getMany],
};
