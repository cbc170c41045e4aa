import type { Table } from '../state/model.mts';
import { RecordWriter } from './writer.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/**
 * Writes for the sandbox itself (sample data, administration), with request number 0. Dates may have
 * any form of ISO 8601.
 */
export function systemWriter(state: SandboxState, table: Table): RecordWriter {
	const token = state.tokens.all()[0];
	const user = token && state.users.get(token.createdBy);
	if (!token || !user) throw new Error('Tokens and users must exist before records.');
	const request = {
		state,
		number: 0,
		origin: '',
		params: {},
		query: {},
		body: undefined,
		token,
		user,
		recordFaultFor: () => 'write' as const,
	};
	return new RecordWriter(request, table, { dates: 'current', dateForms: 'iso' });
}
