/** The workflows of `examples/`, prepared for a running n8n and sandbox. */

import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './nodePackage.mts';
import type { ConnectedSandbox } from './sandboxProcess.mts';
import type { NewCredential, WorkflowJson } from './n8nApi.mts';

/** The file of the example that `npm start` runs. */
export const MAIN_EXAMPLE = 'airports-into-the-platform.json';

/** The nodes in it that start it and that write the records. */
export const TRIGGER_NODE = 'Start';
export const WRITE_NODE = 'Write airports';

/** The credential's name in all examples: n8n's default name for the first of its type. */
export const CREDENTIAL_NAME = 'Data Platform account';

export const CREDENTIAL_TYPE = 'dataPlatformApi';

/** What to look at after the main example. */
export const SECOND_EXAMPLE = 'record-of-your-own.json';

/** The workflow that *Large file in parts* calls, once for each part. */
export const PART_EXAMPLE = 'large-file-one-part.json';

/** Examples that are called by a URL, which exists only after they are published. */
export const PUBLISHED_EXAMPLES = [PART_EXAMPLE, 'mcp-server-for-agents.json'];

/** n8n's address in the examples. */
export const N8N_ADDRESS = 'https://n8n.example.com';

/** The names of all example files. */
export async function listExamples(): Promise<string[]> {
	const names = await readdir(join(ROOT, 'examples'));
	return names.filter((name) => name.endsWith('.json')).sort();
}

/**
 * Reads an example.
 *
 * @param addresses the replacements for the addresses on example.com in the file
 */
export async function readExample(
	name: string,
	addresses: Readonly<Record<string, string>> = {},
): Promise<WorkflowJson> {
	let text = await readFile(join(ROOT, 'examples', name), 'utf8');
	for (const [from, to] of Object.entries(addresses)) text = text.replaceAll(from, to);
	return JSON.parse(text) as WorkflowJson;
}

/** A credential for a running sandbox, with the recommended type of token. */
export function sandboxCredential(sandbox: ConnectedSandbox): NewCredential {
	return {
		name: CREDENTIAL_NAME,
		type: CREDENTIAL_TYPE,
		data: {
			baseUrl: sandbox.baseUrl,
			accessType: 'role',
			token: sandbox.tokens.role,
		},
	};
}

/** A credential for the webhook that imports a part of a file, with a random secret. */
export function webhookCredential(): NewCredential {
	return {
		name: 'Header Auth account',
		type: 'httpHeaderAuth',
		data: { name: 'X-Import-Key', value: randomBytes(24).toString('hex') },
	};
}
