/**
 * Handles one request of the platform's *Send Webhook* step. Nothing in it is trusted except the
 * record's ID.
 *
 *     request ─▶ check the secret ─▶ respond ─▶ read the record ─▶ emit it, unless that was done
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type {
	IDataObject,
	IHookFunctions,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

import { addressKey } from '../api/endpoints';
import { idKey } from '../api/idSet';
import { findRecord } from '../api/records';
import { readPage } from '../api/pages';
import { tableAt } from '../api/table';
import type { PlatformRecord, TableAt } from '../api/types';
import { seal, unseal } from '../api/packing';
import { createdAt, isNew, timeOf, versionOf } from '../changes/tracker';
import { createClient, CREDENTIAL } from '../run/createClient';
import { withHintInMessage, toNodeError } from '../run/ledger';
import { toProblem } from '../parameters/describeFailure';
import { outputOf } from '../parameters/select/reading';
import { timeout } from '../parameters/requests';
import { addressOf } from '../parameters/select/table';
import { KeyedQueue } from '../transport/concurrency';
import { InputError, ServiceError } from '../transport/errors';
import { getOwn, membersOf } from '../transport/json';
import { webhookParameters } from './parameters';
import { setMostRecent } from '../transport/lru';

/**
 * How long reading may wait in all for retries, in seconds: the platform sends the request only
 * once.
 */
const MAX_RETRY_WAIT_S = 120;

const HOW_TO_RECOVER = 'Get Changes finds this and all other missed changes, except deletions.';

/** Longer than any ID. Limited because it becomes part of a path. */
const MAX_ID_LENGTH = 200;

/** How many records to remember. The one emitted first is forgotten first. */
const MAX_RECORDS = 1000;

/** A record's ID, the version emitted last, and its time; no version if the record was deleted. */
type EmittedVersion = [id: string, version: number | null, time: number];

type EventKind = 'created' | 'updated' | 'deleted';

/**
 * True for a later time. Times may be equal, because a deletion keeps the time of its record: then a
 * deletion, or the higher version, is later.
 */
const isLater = ([, version, time]: EmittedVersion, [, otherVersion, otherTime]: EmittedVersion) =>
	time > otherTime || (time === otherTime && (version ?? Infinity) > (otherVersion ?? Infinity));

/**
 * The record versions that a node has emitted. The platform may send a request twice, and after two
 * requests for two changes, both may read the later version.
 */
class EmittedVersions {
	private readonly versions = new Map<string, EmittedVersion>();

	/** Adds stored entries that are newer than the known ones. */
	restore(stored: EmittedVersion[]): void {
		for (const entry of stored) {
			const known = this.versions.get(entry[0]);
			if (!known || isLater(entry, known)) this.set(entry);
		}
	}

	/**
	 * Marks a record's version as emitted; without a record, its deletion.
	 *
	 * @returns the kind of event to emit; undefined if it was already emitted
	 */
	add(id: string, record: PlatformRecord | null): EventKind | undefined {
		const [, knownVersion, knownTime = 0] = this.versions.get(id) ?? [];
		if (!record) {
			if (knownVersion === null) return undefined;
			this.set([id, null, knownTime]);
			return 'deleted';
		}
		const version = versionOf(record);
		const time = timeOf(record);
		// A record that comes back after a deletion restarts its versions.
		const isKnown = typeof knownVersion === 'number';
		const isCreated = isNew(record) && !(isKnown && createdAt(record) <= knownTime);
		const kind = isCreated ? 'created' : 'updated';
		// With neither a version nor a time, nothing shows whether it is new: emit it.
		if (version === 0 && time === 0) return kind;
		if (isKnown && time <= knownTime && version <= knownVersion) return undefined;
		this.set([id, version, time]);
		return kind;
	}

	/** The entries to store, oldest first. */
	list(): EmittedVersion[] {
		return [...this.versions.values()];
	}

	private set(entry: EmittedVersion): void {
		setMostRecent(this.versions, entry[0], entry, MAX_RECORDS);
	}
}

/** The version of the format in which the node's static data has what was emitted. */
const FORMAT = 'webhook 2';

interface StoredVersions {
	/** Identifies the platform and the table. */
	source: string;
	versions: EmittedVersion[];
}

/** What trigger nodes have emitted in this process of n8n, each of one table. */
const NODES = new Map<string, EmittedVersions>();

/** Processes the requests of each record in turn, so that a later version is emitted later. */
const TURNS = new KeyedQueue();

/** How many trigger nodes to remember. The one called least recently is forgotten first. */
const MAX_NODES = 1000;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Compares in constant time. */
const isSame = (given: string, secret: string) => timingSafeEqual(digest(given), digest(secret));

async function readSecret(context: IWebhookFunctions | IHookFunctions): Promise<string> {
	const { webhookSecret } = await context.getCredentials(CREDENTIAL);
	return String(webhookSecret ?? '').trim();
}

/** @throws {NodeOperationError} if the credential has no usable secret for checking requests */
export async function requireSecret(context: IHookFunctions): Promise<void> {
	const secret = await readSecret(context);
	// Other characters would arrive changed, because n8n reads a header byte by byte.
	if (/^[\x20-\x7e]+$/.test(secret)) return;
	const field = 'Webhook Secret';
	const wrong = (message: string, hint: string) => {
		const failure = toProblem(new InputError(message, { field, hint }));
		// In a test of a trigger, the editor shows only the message of an error.
		return toNodeError(context.getNode(), withHintInMessage(failure));
	};
	if (secret !== '') {
		throw wrong(
			`The credential's '${field}' has a character that no header can hold`,
			'Use letters from A to Z, digits and punctuation, in one line.',
		);
	}
	throw wrong(
		`The credential has no '${field}'`,
		"Turn on 'More Settings' in the credential and enter a long random text there, and the same in the Authorization header of the platform's Send Webhook step, after 'Bearer '.",
	);
}

function bearerOf(header: unknown): string {
	const [, token = ''] = /^Bearer (.*)$/i.exec(String(header ?? '').trim()) ?? [];
	return token.trim();
}

function recordIdOf(body: unknown): string | undefined {
	const id = getOwn(membersOf(body), 'recordId');
	// A larger number has lost digits and would be the ID of another record.
	const text = Number.isSafeInteger(id) ? String(id) : id;
	if (typeof text !== 'string') return undefined;
	const trimmed = text.trim();
	if (trimmed === '' || trimmed.length > MAX_ID_LENGTH) return undefined;
	return idKey(trimmed);
}

/** The record as it is now; null if it was deleted. @throws {ServiceError} */
async function currentRecord(table: TableAt, id: string): Promise<PlatformRecord | null> {
	const record = await findRecord(table, id);
	// Fails if the table itself is missing.
	if (!record) await readPage(table, {}, { limit: 1, skip: 0 });
	return record;
}

/** The item that starts the workflow; undefined if this version was already emitted. */
async function nextItem(
	context: IWebhookFunctions,
	id: string,
): Promise<INodeExecutionData | undefined> {
	const parameters = webhookParameters(context);
	const address = addressOf(parameters, 0);
	const shape = outputOf(parameters, 0);
	const limits = { timeout: timeout.of(parameters, 0), maxRetryWait: MAX_RETRY_WAIT_S };
	const client = await createClient(context, limits);
	const source = [client.origin, addressKey(address)].join(' ');
	const isTest = context.getMode() === 'manual';
	const node = [context.getWorkflow().id, context.getNode().id, source].join(' ');
	const emitted = setMostRecent(NODES, node, NODES.get(node) ?? new EmittedVersions(), MAX_NODES);
	return await TURNS.next(`${node} ${id}`, async () => {
		const record = await currentRecord(tableAt(client, address), id);
		// A test in the editor is not remembered.
		const data = isTest ? {} : context.getWorkflowStaticData('node');
		const seen = isTest ? new EmittedVersions() : emitted;
		const stored = unseal(FORMAT, data.emitted) as StoredVersions | undefined;
		if (stored?.source === source) seen.restore(stored.versions);
		const event = seen.add(id, record);
		if (event === undefined) return undefined;
		data.emitted = seal(FORMAT, { source, versions: seen.list() } satisfies StoredVersions);
		return { json: record ? { event, ...shape(record) } : { event, id } };
	});
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
		return respond(401, {
			message: "The Authorization header does not contain the 'Webhook Secret'",
		});
	}
	const id = recordIdOf(context.getBodyData());
	if (id === undefined) {
		return respond(400, {
			message:
				'The body must be a JSON object such as {"recordId": "…"}, and its Content-Type application/json',
		});
	}
	const responded = respond(200, { received: true });
	try {
		const item = await nextItem(context, id);
		if (!item) return responded;
		return { ...responded, workflowData: [[item]] };
	} catch (error) {
		const problem = toProblem(error);
		const message = `The event of record '${id}' is lost: ${problem.message}`;
		// Nobody can run it again: the platform sent the request once.
		const isOver = error instanceof ServiceError && error.delivery !== 'rejected';
		const hint = isOver ? HOW_TO_RECOVER : problem.hint;
		throw toNodeError(context.getNode(), { ...problem, message, hint });
	}
}
