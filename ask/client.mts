/** Requests to the platform, without the nodes' code. No error names the token, or what was read. */
import axios, { type AxiosInstance } from 'axios';

const TIMEOUT_MS = 60_000;

export interface Answered {
	status: number;
	data: unknown;
	errors: Array<Record<string, unknown>>;
	body: Record<string, unknown>;
}

export interface FieldDefinition {
	name: string;
	type: string;
	metadata: Record<string, unknown>;
}

export interface TableDefinition {
	id: string;
	internalNameApi: string;
	items: FieldDefinition[];
}

export class AskClient {
	requests = 0;
	readonly #http: AxiosInstance;

	/** @throws {Error} if the token would travel in clear text */
	constructor(baseUrl: string, token: string) {
		const { protocol, hostname, origin } = new URL(baseUrl);
		const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
		if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
			throw new Error(
				'The base URL must begin with https://; plain HTTP is for this machine only.',
			);
		}
		this.#http = axios.create({
			baseURL: `${origin}/api/v2`,
			headers: { authorization: `Bearer ${token}` },
			timeout: TIMEOUT_MS,
			validateStatus: () => true,
			maxRedirects: 0,
			...(isLocal && { proxy: false }),
		});
	}

	/** @throws {Error} if there is no response */
	async ask(method: string, path: string, body?: unknown): Promise<Answered> {
		this.requests += 1;
		const response = await this.#http
			.request<unknown>({ method, url: path, data: body })
			.catch((error: Error & { code?: string }) => {
				throw new Error(`${method} got no response (${error.code ?? error.name}).`);
			});
		const isObject = typeof response.data === 'object' && response.data !== null;
		const content = (isObject ? response.data : {}) as { data?: unknown; errors?: unknown };
		const errors = Array.isArray(content.errors) ? (content.errors as Answered['errors']) : [];
		return {
			status: response.status,
			data: content.data,
			errors,
			body: content as Answered['body'],
		};
	}

	/** @throws {Error} if the token doesn't work */
	async requireAccess(): Promise<void> {
		const { status } = await this.ask('GET', '/ping');
		if (status !== 200)
			throw new Error(`GET /ping answered ${status}: check the base URL and the token.`);
	}

	/** The `data` of a list; empty if the token may not read it. */
	async list<Entry>(path: string): Promise<Entry[]> {
		const { status, data } = await this.ask('GET', path);
		return status === 200 && Array.isArray(data) ? (data as Entry[]) : [];
	}

	/** A table's definition; fields are named `name` or `id`. Undefined if it can't be read. */
	async definition(app: string, table: string): Promise<TableDefinition | undefined> {
		const { status, data } = await this.ask('GET', tablePath(app, table));
		if (status !== 200) return undefined;
		const found = data as Omit<TableDefinition, 'items'> & {
			items?: Array<FieldDefinition & { id?: string }>;
		};
		const items = (found.items ?? []).map(({ id = '', name = id, type, ...field }) => ({
			...field,
			name,
			type,
			metadata: field.metadata ?? {},
		}));
		return { ...found, items };
	}
}

export const tablePath = (app: string, table: string) =>
	`/apps/${encodeURIComponent(app)}/tables/${encodeURIComponent(table)}`;
