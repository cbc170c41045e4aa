import type { Resource } from '../../run/operation';
import { trigger } from './trigger';
import { triggerAndWait } from './triggerAndWait';

export const workflow: Resource = {
	value: 'workflow',
	name: 'Workflow',
	operations: [trigger, triggerAndWait],
};
