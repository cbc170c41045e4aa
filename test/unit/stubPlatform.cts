/** A connection to a fake platform, for what a real one can't be made to do. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IDataObject, IHttpRequestOptions, IN8nHttpFullResponse, Logger } from 'n8n-workflow';
import { ApiClient, type ClientSettings } from '../../nodes/DataPlatform/transport/client.ts';
import { ENOUGH_IN_PLACE, recordsInPlace } from '../../nodes/DataPlatform/bulk/send/order.ts';
import { tokenQueues } from '../../nodes/DataPlatform/transport/tokenQueue.ts';
import type { HttpTransport } from '../../nodes/DataPlatform/transport/exchange.ts';

export const httpResponse = (status: number, body: unknown, headers: Record<string, string> = {}): IN8nHttpFullResponse => ({
	statusCode: status,
	headers,
	body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** A request as a server gets it, whose body was sent piece by piece. */
export const received = async (request: IHttpRequestOptions): Promise<IHttpRequestOptions> => ({
	...request,
	body: (await buffer(request.body as unknown as Readable)) as unknown as IDataObject,
});

/** A response as n8n passes it on: its body is a stream. */
export const streamed = (response: IN8nHttpFullResponse): IN8nHttpFullResponse => {
	const { body } = response as { body: unknown };
	if (typeof body !== 'string') return response;
	const stream = Readable.from(body === '' ? [] : [Buffer.from(body)]);
	return { ...response, body: stream };
};

/** The platform's own error for something that does not exist. */
export const notFound = () => httpResponse(404, { errors: [{ type: 'info', id: 'notFound', message: 'not found' }] });

/** The page of a list that a request asks for. */
export function pageResponse({ url }: IHttpRequestOptions, list: unknown[], cap = Infinity): IN8nHttpFullResponse {
	const query = new URL(url).searchParams;
	const skip = Number(query.get('skip') ?? 0);
	const limit = Math.min(cap, Number(query.get('limit')));
	return httpResponse(200, { data: list.slice(skip, skip + limit) });
}

/** An error of the network, wrapped as by n8n. */
export const networkError = (code: string, syscall?: string) =>
	Object.assign(new Error('The service refused the connection'), {
		httpCode: null,
		cause: Object.assign(new Error(code), { code, syscall }),
	});

/** More requests than any test needs: an endless loop fails before it times out. */
const MAX_REQUESTS = 20_000;

const tooMany = () => httpResponse(400, { errors: [{ type: 'info', id: 'tooMany', message: 'too many requests' }] });

type Served = IN8nHttpFullResponse | Error;
export type Serve = (options: IHttpRequestOptions, count: number) => Served | Promise<Served>;

export interface Fake {
	connection: ApiClient;
	sent: IHttpRequestOptions[];
	/** For each of them, whether the token was sent. */
	withToken: boolean[];
	/** What the node logged, without information. */
	log: string[];
	/** What the node logged as information. */
	announced: string[];
	/** Ends the execution. */
	cancel(): void;
}

/** A client's settings for tests that are about something else. */
export const SETTINGS: ClientSettings = {
	account: 'test',
	baseUrl: 'https://platform.example.com/api/v2',
	webhookOrigins: '',
	requestsPerMinute: 0,
	tokenType: 'role',
	redactToken: (text) => text,
	timeoutMs: 60_000,
	retryBudgetMs: 300_000,
};

// As if earlier responses had shown that they list records in order.
recordsInPlace.set(new URL(SETTINGS.baseUrl).origin, ENOUGH_IN_PLACE);

/**
 * A fake platform: `serve` responds to each request, or returns an error of the network.
 *
 * @param Client the kind of client that the connection is
 */
export function fakePlatform(serve: Serve, settings: Partial<ClientSettings> = {}, Client = ApiClient): Fake {
	const sent: IHttpRequestOptions[] = [];
	const log: string[] = [];
	const cancellation = new AbortController();
	const withToken: boolean[] = [];
	const send = async (request: IHttpRequestOptions, hasToken: boolean) => {
		const options = request.body instanceof Readable ? await received(request) : request;
		sent.push(options);
		withToken.push(hasToken);
		const result = sent.length > MAX_REQUESTS ? tooMany() : await serve(options, sent.length);
		if (result instanceof Error) throw result;
		return streamed(result);
	};
	const announced: string[] = [];
	const note = (message: string) => log.push(message);
	const logger = { debug: note, warn: note, info: (text: string) => announced.push(text) } as unknown as Logger;
	const sender: HttpTransport = { send, logger, canceled: cancellation.signal };
	// As in a new process.
	if (settings.account === undefined) tokenQueues.delete(SETTINGS.account);
	const connection = new Client(sender, { ...SETTINGS, ...settings });
	return { connection, sent, withToken, log, announced, cancel: () => cancellation.abort() };
}
