import type { Resource } from '../../execution/operation';
import { getMany } from './getMany';

export const application: Resource = {
	value: 'application',
	name: 'Application',
	operations: [getMany],
};
