/** The workflows of `examples/`, made ready for an n8n and a sandbox that run now. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AIRPORTS_ADDRESS } from './airports.mts';
import { ROOT } from './launch.mts';
import type { RunningSandbox } from './sandbox.mts';
import type { NewCredential, WorkflowJson } from './session.mts';

/** The file of the example that `npm start` runs. */
export const MAIN_EXAMPLE = 'airports-into-the-platform.json';

/** The credential's name in all examples: the one n8n gives to a user's first. */
export const CREDENTIAL_NAME = 'Data Platform account';

export const CREDENTIAL_TYPE = 'dataPlatformApi';

/** The names of all example files. */
export async function listExamples(): Promise<string[]> {
	const names = await readdir(join(ROOT, 'examples'));
	return names.filter((name) => name.endsWith('.json')).sort();
}

/** An example, with the address where its CSV file is served now. */
export async function readExample(name: string, airportsUrl: string): Promise<WorkflowJson> {
	const text = await readFile(join(ROOT, 'examples', name), 'utf8');
	return JSON.parse(text.replaceAll(AIRPORTS_ADDRESS, airportsUrl)) as WorkflowJson;
}

/** A credential for a running sandbox, with the kind of token that users are told to take. */
export function sandboxCredential(sandbox: RunningSandbox): NewCredential {
	return {
		name: CREDENTIAL_NAME,
		type: CREDENTIAL_TYPE,
		data: {
			baseUrl: sandbox.baseUrl,
			accessType: 'role',
			token: sandbox.tokens.role,
			webhookOrigins: '',
			requestsPerMinute: 0,
			ignoreSslIssues: false,
		},
	};
}
