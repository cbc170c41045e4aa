/**
 * One request of the platform's *Send Webhook* step: check its secret, respond, read the record that
 * it names, emit it unless that was done already. Nothing else in the request is believed.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type {
	IDataObject,
	IHookFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

import { findRecord, readPage } from '../api/records';
import type { PlatformRecord, TableAddress } from '../api/types';
import { isFirstVersion } from '../changes/tracker';
import { createClient, CREDENTIAL } from '../execution/createClient';
import { toNodeError } from '../execution/itemResults';
import { toFailure } from '../parameters/failure';
import { outputOf } from '../parameters/reading';
import { timeout } from '../parameters/requests';
import { tableOf } from '../parameters/table';
import type { ApiClient } from '../transport/client';
import { InputError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import { webhookParameters } from './parameters';
import { nodeData } from './savedState';
import { EmittedVersions, type EmittedVersion } from './emittedVersions';

/** How long reading may wait in all to retry requests, in seconds: the platform sends no second one. */
const MAX_RETRY_WAIT_S = 120;

/** Longer than any id; it goes into a path. */
const MAX_ID_LENGTH = 200;

/** What was emitted in this process of n8n, by workflow and node: several requests may come at once. */
const EMITTED = new Map<string, EmittedVersions>();

/** How many trigger nodes are remembered. */
const MAX_NODES = 1000;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Compares in a time that does not depend on where the two differ. */
const isSame = (given: string, secret: string) => timingSafeEqual(digest(given), digest(secret));

async function readSecret(context: IWebhookFunctions | IHookFunctions): Promise<string> {
	const { webhookSecret } = await context.getCredentials(CREDENTIAL);
	return String(webhookSecret ?? '').trim();
}

/** @throws {NodeOperationError} if the credential has no secret to check requests by */
export async function requireSecret(context: IHookFunctions): Promise<void> {
	if ((await readSecret(context)) !== '') return;
	const failure = toFailure(
		new InputError("The credential has no 'Webhook Secret'", {
			field: 'Webhook Secret',
			hint: "Turn on 'More Settings' in the credential and enter a long random text there, and the same in the Authorization header of the platform's Send Webhook step, after 'Bearer '.",
		}),
	);
	throw toNodeError(context.getNode(), failure);
}

function bearerOf(header: unknown): string {
	const [, token = ''] = /^Bearer +(.*)$/i.exec(String(header ?? '').trim()) ?? [];
	return token.trim();
}

function recordIdOf(body: unknown): string | undefined {
	const id = isObject(body) ? getOwn(body, 'recordId') : undefined;
	const text = typeof id === 'number' ? String(id) : id;
	if (typeof text !== 'string') return undefined;
	const trimmed = text.trim();
	return trimmed === '' || trimmed.length > MAX_ID_LENGTH ? undefined : trimmed;
}

/** The record as it is now; null where it is gone. @throws {ServiceError} */
async function currentRecord(
	client: ApiClient,
	at: TableAddress,
	id: string,
): Promise<PlatformRecord | null> {
	const record = await findRecord(client, at, id);
	// Or is it the table that is not there?
	if (!record) await readPage(client, at, {}, { limit: 1, skip: 0 });
	return record;
}

function emittedOf(context: IWebhookFunctions): EmittedVersions {
	const node = `${context.getWorkflow().id} ${context.getNode().id}`;
	const emitted = EMITTED.get(node) ?? new EmittedVersions();
	EMITTED.delete(node);
	EMITTED.set(node, emitted);
	const [oldest] = EMITTED.keys();
	if (EMITTED.size > MAX_NODES) EMITTED.delete(oldest!);
	return emitted;
}

/** The trigger's `webhook`. */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const response = context.getResponseObject();
	const respond = (status: number, body: IDataObject): IWebhookResponseData => {
		response.status(status).json(body);
		return { noWebhookResponse: true };
	};
	const secret = await readSecret(context);
	const given = bearerOf(getOwn(context.getHeaderData() as IDataObject, 'authorization'));
	if (secret === '' || !isSame(given, secret)) {
		return respond(401, { message: "The Authorization header does not hold the 'Webhook Secret'" });
	}
	const id = recordIdOf(context.getBodyData());
	if (id === undefined) {
		return respond(400, {
			message: 'The body must be a JSON object such as {"recordId": "…"}',
		});
	}
	const responded = respond(200, { received: true });
	try {
		const parameters = webhookParameters(context);
		const limits = { timeout: timeout.of(parameters, 0), maxRetryWait: MAX_RETRY_WAIT_S };
		const client = await createClient(context, limits);
		const record = await currentRecord(client, tableOf(parameters, 0), id);
		const data = nodeData(context);
		const emitted = emittedOf(context);
		emitted.restore(readEmitted(data.emitted));
		const isTest = context.getMode() === 'manual';
		const isNew = isTest || (record ? emitted.add(record) : emitted.addDeletion(id));
		if (!isNew) return responded;
		if (!isTest) data.emitted = emitted.list();
		const json = record
			? {
					event: isFirstVersion(record) ? 'created' : 'updated',
					...outputOf(parameters, 0)(record),
				}
			: { event: 'deleted', id };
		return { ...responded, workflowData: [[{ json }]] };
	} catch (error) {
		throw toNodeError(context.getNode(), toFailure(error));
	}
}

function readEmitted(value: unknown): EmittedVersion[] {
	if (!Array.isArray(value)) return [];
	return value.filter((entry): entry is EmittedVersion => {
		if (!Array.isArray(entry)) return false;
		const [id, version, time] = entry as unknown[];
		return (
			typeof id === 'string' &&
			(version === null || typeof version === 'number') &&
			typeof time === 'number'
		);
	});
}
