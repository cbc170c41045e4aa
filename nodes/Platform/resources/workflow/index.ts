import type { Resource } from '../operation';
import { trigger } from './trigger';

export const workflow: Resource = {
	value: 'workflow',
	name: 'Workflow',
	operations: [trigger],
};
