/**
 * Settings for requests.
 */
import { DEFAULT_MAX_WAIT_S, DEFAULT_TIMEOUT_S } from '../run/createClient';
import { flag, number } from '../parameterKinds/kinds';
import { LABELS } from '../labels';

export const timeout = number('timeout', {
	label: 'Timeout (Seconds)',
	// With 0, every request would time out at once.
	min: 0.001,
	editorMin: 1,
	preset: DEFAULT_TIMEOUT_S,
	description: 'How many seconds a single request may take',
});

export const maxRetryWait = number('maxRetryWait', {
	label: LABELS.maxRetryWait,
	min: 0,
	preset: DEFAULT_MAX_WAIT_S,
	description:
		'How many seconds the whole execution may wait for retries when the platform is busy or unreachable',
});

export const skipAudit = flag('skipAudit', {
	label: 'Skip Audit',
	preset: false,
	description: "Whether to leave the change out of the platform's audit log",
});

/** Settings of every operation that sends requests. */
export const requestSettings = [maxRetryWait, timeout];
