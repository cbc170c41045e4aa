import type { Resource } from '../../execution/operation';
import { getCurrent } from './getCurrent';

export const user: Resource = {
	value: 'user',
	name: 'User',
	operations: [getCurrent],
};
