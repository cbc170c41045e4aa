/** The workflows of `examples/`, prepared for a running n8n and sandbox. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AIRPORTS_URL } from './csvServer.mts';
import { ROOT } from './nodePackage.mts';
import type { RunningSandbox } from './sandboxProcess.mts';
import type { NewCredential, WorkflowJson } from './n8nApi.mts';

/** The file of the example that `npm start` runs. */
export const MAIN_EXAMPLE = 'airports-into-the-platform.json';

/** The credential's name in all examples: n8n's default name for the first of its type. */
export const CREDENTIAL_NAME = 'Data Platform account';

export const CREDENTIAL_TYPE = 'dataPlatformApi';

/** The names of all example files. */
export async function listExamples(): Promise<string[]> {
	const names = await readdir(join(ROOT, 'examples'));
	return names.filter((name) => name.endsWith('.json')).sort();
}

/** Reads an example, with the URL of the running CSV server in it. */
export async function readExample(name: string, csvUrl: string): Promise<WorkflowJson> {
	const text = await readFile(join(ROOT, 'examples', name), 'utf8');
	return JSON.parse(text.replaceAll(AIRPORTS_URL, csvUrl)) as WorkflowJson;
}

/** A credential for a running sandbox, with the recommended type of token. */
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
