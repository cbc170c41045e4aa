import type { Resource } from '../../execution/operation';
import { trigger } from './trigger';

export const workflow: Resource = {
	value: 'workflow',
	name: 'Workflow',
	operations: [trigger],
};
