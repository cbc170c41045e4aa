/** Responses that no platform should send, made at random from the right ones. */
import fc from 'fast-check';

/** A response on its way: the bytes of its body, and how they are sent. */
export interface HttpResponse {
	status: number;
	headers: Record<string, string | undefined>;
	body: Buffer;
	/** Replaces everything else, including the head. */
	raw?: Buffer;
	/** One byte at a time. */
	isSlow?: boolean;
	/** The change is within a value that the node passes on unchanged. */
	isOpaque?: boolean;
	/** The type or metadata of a field was changed: only operations that show tables pass it on. */
	isFieldPart?: boolean;
	/** The name of that field. */
	fieldName?: string;
	/** All fields of a record were replaced: its ID, times and version are still its own. */
	hasOtherFields?: boolean;
}

export interface Malformation {
	name: string;
	apply(response: HttpResponse): HttpResponse;
}

type Path = Array<string | number>;

type Json = unknown;

/** Every place in a value, starting with the value itself. */
function placesIn(value: Json, path: Path = []): Path[] {
	if (typeof value !== 'object' || value === null) return [path];
	const entries = Object.entries(value).slice(0, 12);
	const keys = Array.isArray(value) ? entries.map((_, index) => index) : entries.map(([key]) => key);
	return [path, ...keys.flatMap((key) => placesIn((value as Record<string | number, Json>)[key], [...path, key]))];
}

/** The replacement of a value. Text that no JSON value can be written as stays text. */
class Literal {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

const REMOVED = Symbol('removed');

/** JSON text of a value with one place replaced or removed. */
function written(value: Json, path: Path, replacement: Json, at: Path = []): string {
	const isPlace = at.length === path.length && at.every((key, index) => key === path[index]);
	if (isPlace) {
		return replacement instanceof Literal ? replacement.text : JSON.stringify(replacement);
	}
	if (typeof value !== 'object' || value === null) return JSON.stringify(value);
	const isGone = (key: string | number) =>
		replacement === REMOVED && at.length === path.length - 1 && [...at, key].every((part, index) => part === path[index]);
	if (Array.isArray(value)) {
		const entries = value.flatMap((entry, index) => (isGone(index) ? [] : [written(entry, path, replacement, [...at, index])]));
		return `[${entries.join(',')}]`;
	}
	const members = Object.entries(value).flatMap(([key, entry]) =>
		isGone(key) ? [] : [`${JSON.stringify(key)}:${written(entry, path, replacement, [...at, key])}`],
	);
	return `{${members.join(',')}}`;
}

const DEEP = 100_000;
const deep = (open: string, close: string) => new Literal(open.repeat(DEEP) + close.repeat(DEEP));

const POLLUTION = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';

/** Half of a surrogate pair, as JSON text. */
const HALF_CHARACTER = '"\\ud800"';

const REPLACEMENTS: Record<string, Json> = {
	null: null,
	true: true,
	zero: 0,
	negative: -1,
	fraction: 1.5,
	infinite: new Literal('1e999'),
	text: 'x',
	emptyText: '',
	list: [],
	object: {},
	nested: [[]],
	numbers: [1, 2],
	pollution: new Literal(POLLUTION),
	removed: REMOVED,
	notANumber: new Literal('NaN'),
	undefined: new Literal('undefined'),
	hex: new Literal('0x10'),
	unclosed: new Literal('"open'),
	badEscape: new Literal('"\\x"'),
	half: new Literal(HALF_CHARACTER),
};

const HUGE: Record<string, Json> = {
	deepLists: deep('[', ']'),
	deepObjects: new Literal(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`),
	hugeText: 'x'.repeat(20_000_000),
	hugeList: new Literal(`[${'{},'.repeat(4_000_000)}{}]`),
};

/** A position in a response, from 0 to 1. */
const share = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000);

/** Below these is the platform's own data, whatever it is. */
const OPEN = new Set(['fields', 'metadata', 'settings', 'tables', 'modules']);
const UNSURE = new Set([
	'created',
	'modified',
	'ver',
	'header',
	'name',
	'email',
	'description',
	'internalName',
	'internalNameApi',
	'shortid',
	'scripts',
	'mimetype',
	'fileName',
	'fileUrl',
]);

/**
 * A field without a readable type or without metadata is still a field, and shown as it is. A table
 * may have no fields.
 */
const isFieldPart = (path: Path, replacement: Json) =>
	path.at(-1) === 'items'
		? JSON.stringify(replacement) === '[]'
		: path.includes('items') && ['type', 'metadata'].includes(String(path.at(-1)));

/** The name of the field whose part is replaced. Automatic mapping leaves a field without a readable type out. */
const fieldNameAt = (value: Json, path: Path, replacement: Json): string | undefined => {
	if (!isFieldPart(path, replacement)) return undefined;
	const field = path.slice(0, -1).reduce((at, key) => (at as Record<string, Json>)[key], value);
	return (field as { name?: string }).name;
};

const isOpaque = (path: Path) => path.slice(0, -1).some((key) => OPEN.has(String(key))) || UNSURE.has(String(path.at(-1)));

const isLiteral = (value: Json, text: string) => value instanceof Literal && value.text === text;

const isPlain = (value: Json) => isLiteral(value, POLLUTION) || JSON.stringify(value) === '{}';

const isSomeText = (value: Json) => (typeof value === 'string' && value !== '') || isLiteral(value, HALF_CHARACTER);

/** Another valid ID or number, which only shows for a record that was requested by its ID. */
function isUndetectable(value: Json, path: Path, replacement: Json): boolean {
	const isRecord = typeof (value as { data?: { fields?: Json } }).data?.fields === 'object';
	if (path.at(-1) === 'id') return isSomeText(replacement) && !isRecord;
	const isInList = typeof path.at(-1) === 'number';
	if (isInList && replacement === REMOVED) return true;
	// No record matches, or there is no application.
	if (path.join() === 'data' && JSON.stringify(replacement) === '[]') return true;
	// What has no name is not a field.
	if (isInList && path.includes('items') && isPlain(replacement)) return true;
	return ['count', 'insertedCount', 'updatedCount'].includes(String(path.at(-1))) && replacement === 0;
}

function parsed({ body }: HttpResponse): Json {
	try {
		return JSON.parse(body.toString('utf8')) as Json;
	} catch {
		return undefined;
	}
}

const withBody = (response: HttpResponse, body: Buffer | string, more: Partial<HttpResponse> = {}): HttpResponse => ({
	...response,
	body: Buffer.from(body as string),
	...more,
});

/** A place by its position in the response, from 0 to 1. */
const placeAt = (value: Json, part: number): Path => {
	const places = placesIn(value);
	return places[Math.min(places.length - 1, Math.floor(part * places.length))]!;
};

const replaced = (table: Record<string, Json>) =>
	fc.record({ name: fc.constantFrom(...Object.keys(table)), place: share }).map(
		({ name, place }): Malformation => ({
			name: `${name} at ${place}`,
			apply(response) {
				const value = parsed(response);
				if (value === undefined) return response;
				const path = placeAt(value, place);
				if (path.length === 0 && table[name] === REMOVED) return withBody(response, '');
				const isUnsure = isOpaque(path) || isUndetectable(value, path, table[name]);
				return withBody(response, written(value, path, table[name]), {
					isOpaque: isUnsure,
					isFieldPart: isFieldPart(path, table[name]),
					fieldName: fieldNameAt(value, path, table[name]),
					hasOtherFields: path.at(-1) === 'fields' && isPlain(table[name]),
				});
			},
		}),
	);

/** Members of an object are repeated with other values; the last one counts. */
const doubled = share.map(
	(place): Malformation => ({
		name: `duplicate keys at ${place}`,
		apply(response) {
			const value = parsed(response);
			const places = placesIn(value).filter((path) => typeof path.at(-1) === 'string');
			const path = places[Math.min(places.length - 1, Math.floor(place * places.length))];
			if (!path) return response;
			const key = JSON.stringify(path.at(-1));
			const text = written(value, path, new Literal(`"first",${key}:null`));
			return withBody(response, text, {
				isOpaque: isOpaque(path),
				isFieldPart: isFieldPart(path, null),
				fieldName: fieldNameAt(value, path, null),
			});
		},
	}),
);

/** @param isReadable whether the result may still be readable, as other text */
const text = (name: string, change: (body: Buffer) => Buffer | string, isReadable = false): Malformation => ({
	name,
	apply: (response) => withBody(response, change(response.body), { isOpaque: isReadable || parsed(response) === undefined }),
});

const texts = fc.oneof(
	share.map((at) => text(`cut at ${at}`, (body) => body.subarray(0, Math.floor(body.length * at)))),
	share.map((at) =>
		text(
			`bad UTF-8 at ${at}`,
			(body) => {
				const place = Math.floor(body.length * at);
				return Buffer.concat([body.subarray(0, place), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), body.subarray(place)]);
			},
			true,
		),
	),
	fc.constantFrom(
		text('trailing rubbish', (body) => `${body.toString()}}]<!-- -->`),
		text('twice', (body) => `${body.toString()}${body.toString()}`),
		text('byte order mark', (body) => `\ufeff${body.toString()}`),
		text('guarded', (body) => `)]}',\n${body.toString()}`),
		text('UTF-16', (body) => Buffer.from(body.toString(), 'utf16le')),
		text('single quotes', (body) => body.toString().replaceAll('"', "'")),
		text('in a list', (body) => `[${body.toString()}]`),
		text('in a text', (body) => JSON.stringify(body.toString())),
		text('a page', () => '<!doctype html><html><body>Sign in</body></html>'),
		text('nothing', () => ''),
		text('blanks', () => ' \n\t '),
		text('errors alone', () => '{"errors":[{"type":"exception","message":"No."}]}'),
		text('errors of no kind', () => '{"errors":"no","data":null}'),
		text('zero bytes', (body) => Buffer.alloc(body.length)),
		text('noise', (body) => Buffer.from(body.map((byte, index) => byte ^ (index * 31)))),
	),
);

const headers = (name: string, change: HttpResponse['headers']): Malformation => ({
	name,
	apply: (response) => ({ ...response, headers: { ...response.headers, ...change } }),
});

const raw = (name: string, head: (response: HttpResponse) => string, body = (response: HttpResponse) => response.body) => ({
	name,
	apply: (response: HttpResponse): HttpResponse => ({
		...response,
		raw: Buffer.concat([Buffer.from(`${head(response)}\r\n\r\n`), body(response)]),
	}),
});

const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json';

const transports = fc.constantFrom<Malformation>(
	headers('type text', { 'content-type': 'text/plain' }),
	headers('type picture', { 'content-type': 'image/png' }),
	headers('type html', { 'content-type': 'text/html' }),
	headers('no type', { 'content-type': undefined }),
	headers('charset UTF-16', { 'content-type': 'application/json; charset=utf-16' }),
	headers('says gzip', { 'content-encoding': 'gzip' }),
	headers('says br', { 'content-encoding': 'br' }),
	headers('says an unknown encoding', { 'content-encoding': 'x-none' }),
	raw('longer than it says', ({ body }) => `${JSON_HEAD}\r\nContent-Length: ${body.length >> 1}`),
	raw('shorter than it says', ({ body }) => `${JSON_HEAD}\r\nContent-Length: ${body.length + 99}`),
	raw('no length', () => `${JSON_HEAD}\r\nConnection: close`),
	raw('negative length', () => `${JSON_HEAD}\r\nContent-Length: -5`),
	raw('length of no kind', () => `${JSON_HEAD}\r\nContent-Length: many`),
	raw('two lengths', ({ body }) => `${JSON_HEAD}\r\nContent-Length: ${body.length}\r\nContent-Length: 3`),
	raw('bad chunks', () => `${JSON_HEAD}\r\nTransfer-Encoding: chunked`),
	raw(
		'chunks that end early',
		() => `${JSON_HEAD}\r\nTransfer-Encoding: chunked`,
		({ body }) => Buffer.concat([Buffer.from(`${(body.length + 9).toString(16)}\r\n`), body]),
	),
	raw('no status', () => 'HTTP/1.1 abc Nothing'),
	raw('not HTTP', () => 'SSH-2.0-OpenSSH_9.2'),
	raw('status 999', ({ body }) => `HTTP/1.1 999 What\r\nContent-Length: ${body.length}`),
	raw('huge header', ({ body }) => `${JSON_HEAD}\r\nX-Huge: ${'x'.repeat(100_000)}\r\nContent-Length: ${body.length}`),
	{ name: 'drip', apply: (response) => ({ ...response, isSlow: true }) },
	{ name: 'status 206', apply: (response) => ({ ...response, status: 206 }) },
	{ name: 'status 299', apply: (response) => ({ ...response, status: 299 }) },
	{ name: 'unrequested gzip', apply: (response) => ({ ...response, headers: { ...response.headers, 'content-encoding': 'gzip, gzip' } }) },
);

/** A random one; `isLarge` draws only those of many megabytes or levels. */
export const malformations = {
	any: fc.oneof(
		{ weight: 10, arbitrary: replaced(REPLACEMENTS) },
		{ weight: 2, arbitrary: doubled },
		{ weight: 5, arbitrary: texts },
		{ weight: 5, arbitrary: transports },
	),
	large: replaced(HUGE),
};
