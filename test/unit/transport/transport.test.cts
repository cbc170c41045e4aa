/** The parts of a request: tokens, URLs, JSON, responses, and when it is retried. */
import type { IDataObject } from 'n8n-workflow';
import { forEachConcurrent } from '../../../nodes/DataPlatform/transport/concurrency.ts';
import { toErrorEntries } from '../../../nodes/DataPlatform/transport/errorEntries.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { describeKind, getOwn, parseExactJson, parseJson } from '../../../nodes/DataPlatform/transport/json.ts';
import { parseResponse, toServiceError, type BodyRequirement } from '../../../nodes/DataPlatform/transport/response.ts';
import { listed, nameList } from '../../../nodes/DataPlatform/transport/messageText.ts';
import { tokenHint, tokenRedactor, withoutFileTokens } from '../../../nodes/DataPlatform/transport/tokens.ts';
import { createPause } from '../../../nodes/DataPlatform/transport/pause.ts';
import { encodePathSegment, encodeUrlComponent } from '../../../nodes/DataPlatform/transport/urlEncoding.ts';
import { thrownBy } from '../fixtures.cts';

const CHECK_TOKEN = "Check 'Token' in the credential for slips and its 'valid to' in the platform, or create a new token there.";
const OTHER_WEBHOOK_TOKEN = 'A webhook requires a workflow execution token or a personal API token: try the other one.';

describe('text in an address', () => {
	test.each([
		['a b/c?d', 'a%20b%2Fc%3Fd'],
		['🦊', '%F0%9F%A6%8A'],
		['...', '...'],
		['.a', '.a'],
		['a.', 'a.'],
	])('%s becomes %s', (text, encoded) => {
		expect(encodePathSegment(text)).toBe(encoded);
	});

	test.each(['', '.', '..'])('"%s" is not a name', (text) => {
		const error = thrownBy(() => encodePathSegment(text));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({
			message: `'${text}' cannot be the name or ID of anything. Nothing was sent`,
			hint: 'Enter the name or ID of an application, table, record or file.',
		});
	});

	test('half of a character is refused, and shown in part', () => {
		const error = thrownBy(() => encodeUrlComponent(`${'a'.repeat(59)}\ud83e${'b'.repeat(9)}`));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({
			message: `"${'a'.repeat(59)}\\ud83e" contains half of a character. Nothing was sent`,
			hint: expect.stringContaining('cut in the middle of a character'),
		});
	});
});

describe('a token', () => {
	test.each([
		['12345678', 'Bearer 12345678 12345678', 'Bearer [token] [token]'],
		['1234567', 'Bearer 1234567', 'Bearer 1234567'],
		['abc/def=1', '{"a":"abc\\/def=1"}', '{"a":"[token]"}'],
		['abc/def=1', '?t=abc%2Fdef%3D1&u', '?t=[token]&u'],
		['abc/def=1', '?t=abc%2fdef%3d1&u', '?t=[token]&u'],
		['abc/def=1', '?t=abc%252Fdef%25253D1&u', '?t=[token]&u'],
		['abc+def=1', '{"a":"abc\\u002Bdef\\u003d1"}', '{"a":"[token]"}'],
		['abc/def=1', JSON.stringify({ a: '{"b":"abc\\/def\\u003D1"}' }), '{"a":"{\\"b\\":\\"[token]\\"}"}'],
		['abc"def\\1', JSON.stringify({ a: 'abc"def\\1' }), '{"a":"[token]"}'],
		['/bcdefg+', '{"a":"\\/bcdefg\\u002b"}', '{"a":"[token]"}'],
		['abc+def=1', 'abc&#43;def&#x3D;1 abc&#x2b;def=1', '[token] [token]'],
		['abc.def*1', 'abc.def*1 abcxdef*1', '[token] abcxdef*1'],
		['abc+def=1', 'abc+def=2 abc-def=1', 'abc+def=2 abc-def=1'],
	])('%s is redacted in %s', (token, text, redacted) => {
		expect(tokenRedactor(token)(text)).toBe(redacted);
	});

	const HOST = 'https://x.example/files/1';
	test.each([
		[`"fileUrl":"${HOST}?token=s"`, `"fileUrl":"${HOST}"`],
		[`"thumbnailUrl" : "${HOST}?a=1&token=s&b=2#c"`, `"thumbnailUrl" : "${HOST}?a=1&b=2#c"`],
		[`"fileUrl":"https:\\/\\/x.example\\/files\\/1?a=1\\u0026Token=s"`, `"fileUrl":"${HOST}?a=1"`],
		[`"fileUrl":"${HOST}?token=a&token=b"`, `"fileUrl":"${HOST}"`],
		[`"fileUrl":"${HOST}?tokens=1&mytoken=2"`, `"fileUrl":"${HOST}?tokens=1&mytoken=2"`],
		['"fileUrl":null,"fileUrl":"\\x"', '"fileUrl":null,"fileUrl":"\\x"'],
		// The user's own link.
		[`"href":"${HOST}?token=s"`, `"href":"${HOST}?token=s"`],
	])('the token of a file is gone from %s', (json, expected) => {
		expect(withoutFileTokens(json)).toBe(expected);
	});

	const otherRight = "Ask for a token that has this right. If the account's plan is the reason, only another plan helps.";
	test.each([
		[401, 'role', 'data', CHECK_TOKEN],
		[401, 'workflow', 'workflows', `${CHECK_TOKEN} ${OTHER_WEBHOOK_TOKEN}`],
		[403, 'workflow', 'workflows', OTHER_WEBHOOK_TOKEN],
		[403, 'role', 'workflows', OTHER_WEBHOOK_TOKEN],
		[403, 'role', 'data', expect.stringContaining("If the token's role lacks a right, add it")],
		[403, 'jwt', 'data', otherRight],
		[403, 'short', 'attachments', otherRight],
		[
			403,
			'short',
			'data',
			"Reading and writing data requires a token of type 'API Token With Role' or 'Standard JWT Token'; the credential has a 'Short API Token'.",
		],
		[
			403,
			'other',
			'workflows',
			"Starting workflows requires a token of type 'API Token With Role' or 'Workflow Execution Token' or 'Standard JWT Token'; the credential has a 'other'.",
		],
		[404, 'role', 'data', undefined],
		[undefined, 'role', 'data', undefined],
	] as const)('after a %s, of the type %s for %s: %j', (status, token, purpose, hint) => {
		expect(tokenHint(status, token, purpose)).toEqual(hint);
	});
});

describe('JSON', () => {
	const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
	const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
	test.each([
		['lists, as deep as anybody handles', lists(500), true],
		['lists, deeper', lists(501), false],
		['objects, as deep as anybody handles', objects(500), true],
		['objects, deeper', objects(501), false],
		['many beside each other', `[${'[],{},'.repeat(600)}1]`, true],
		['brackets in text', JSON.stringify('['.repeat(600)), true],
		['brackets in text behind a quote', JSON.stringify(`"${'{'.repeat(600)}`), true],
		['a backslash at the end of a text', `["\\\\",${lists(501)}]`, false],
		['text without an end', `"${'['.repeat(600)}`, false],
		['no JSON', '{', false],
	])('%s', (_, text, isRead) => {
		expect(parseJson(text) !== undefined).toBe(isRead);
	});

	test.each<[string, unknown]>([
		['[9007199254740993]', ['9007199254740993']],
		['[-0.1234567890123456789,2]', ['-0.1234567890123456789', 2]],
		['{"a":1e400,"b":1e-400,"c":1E308}', { a: '1e400', b: '1e-400', c: 1e308 }],
		['[0.30000000000000004,1000000000000000000000,1.50000000000000000000]', [0.1 + 0.2, 1e21, 1.5]],
		['{"12345678901234567890":"\\"12345678901234567890","x":"\\\\"}', { '12345678901234567890': '"12345678901234567890', x: '\\' }],
		['12345678901234567890', '12345678901234567890'],
		['{12345678901234567890:1}', undefined],
		['[012345678901234567890]', undefined],
		['[12345678901234567890', undefined],
	])('%s keeps all digits', (text, value) => {
		expect(parseExactJson(text)).toEqual(value);
	});

	test.each([
		[[], 'a list'],
		[null, 'null'],
		[undefined, 'undefined'],
		[NaN, 'NaN'],
		[{}, 'an object'],
		[true, 'a boolean'],
		[1, 'a number'],
		['', 'a string'],
	])('%j is %s', (value, kind) => {
		expect(describeKind(value)).toBe(kind);
	});

	test('an object holds only what is its own', () => {
		expect(getOwn({ a: 1 }, 'a')).toBe(1);
		expect(getOwn<unknown>({ a: 1 }, 'constructor')).toBeUndefined();
	});
});

test('errors are distinguished by their names', () => {
	expect(new ServiceError('', { delivery: 'rejected' }).name).toBe('ServiceError');
	expect(new InputError('', { hint: '' }).name).toBe('InputError');
});

test.each<[string[], string]>([
	[[], ''],
	[['a', 'b'], "'a', 'b'"],
	[Array.from('abcdefghijkl'), "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j' and 2 more"],
	[['x'.repeat(101)], `'${'x'.repeat(100)}… (cut)'`],
])('the names %j', (names, text) => {
	expect(nameList(names)).toBe(text);
});

test.each([
	[['a', 'b'], 'a; b'],
	[Array.from('abcdefghij'), 'a; b; c; d; e; f; g; h; i; j'],
	[Array.from('abcdefghijk'), 'a; b; c; d; e; f; g; h; i; j; and 1 more'],
])('the problems %j', (problems, text) => {
	expect(listed(problems)).toBe(text);
});

describe('the errors of a response', () => {
	const unique = (message: string) => ({ id: 'specifiedCodeAlreadyExistsException', message });
	test.each([
		[
			{ type: 'info', id: 'c', message: 'm', RecordIndex: 1 },
			{ type: 'info', id: 'c', message: 'm', recordIndex: 1 },
		],
		[{ recordindex: 0 }, { recordIndex: 0 }],
		[{ RecordIndex: 1.5, message: '' }, {}],
		[{ RecordIndex: '1', message: 5, id: null }, { recordIndex: 1 }],
		[{ RecordIndex: '1x' }, {}],
		[{ RecordIndex: '' }, {}],
		[{ title: 'Wrong.' }, { message: 'Wrong' }],
		[unique('Contacts, E-mail, ann@example.com'), unique("Another record has this value in 'E-mail': ann@example.com")],
		[unique('Contacts, Name, Fox, Ann'), unique('Another record has this value: Contacts, Name, Fox, Ann')],
		[unique('taken'), unique('Another record has this value: taken')],
	])('%j is read as %j', (entry, read) => {
		expect(toErrorEntries([entry])).toEqual([read]);
	});
	test('are cut if they are long', () => {
		const [long, cut] = ['x'.repeat(1001), `${'x'.repeat(1000)}… (cut)`];
		expect(toErrorEntries([{ type: long, id: long, message: long }])).toEqual([{ type: cut, id: cut, message: cut }]);
		const whole = { message: 'x'.repeat(1000) };
		expect(toErrorEntries([whole])).toEqual([whole]);
	});
	test.each([
		['Wrong.', 'Wrong'],
		[['Wrong.', 'Bad'], 'Wrong, Bad'],
		[{ message: 'Wrong' }, 'Wrong'],
		[{ email: ['is taken', 'is short.'], age: 'is high', code: 5 }, 'email: is taken; email: is short; age: is high'],
	])('%j say: %s', (errors, text) => {
		expect(
			toErrorEntries(errors)
				.map(({ message }) => message)
				.join(', '),
		).toBe(text);
	});
	test.each([[undefined], [''], [{}], [{ a: {} }], [[null, []]]])('%j has none', (errors) => {
		expect(toErrorEntries(errors)).toEqual([]);
	});
});

test.each([
	['/api/v2/apps/crm/tables/people/data/r1', "Check the record's ID;"],
	['/api/v2/people/data/r1', "Check the record's ID;"],
	['/api/v2/apps/crm/tables/people/files/f1', "Check the file's ID;"],
	['/api/v2/apps/crm/tables/people/files/f1/thumbnail', "Check the file's ID;"],
	['/api/v2/apps/crm/tables', 'Check the application and the table;'],
	['/api/v2/apps/crm/tables/people', 'Check the application and the table;'],
	['/api/v2/people/data', 'Check the application and the table;'],
	['/api/v2/people/data/filter', 'Check the application and the table;'],
	['/api/v2/people/data/count/filter', 'Check the application and the table;'],
	['/api/v2/apps/crm/tables/people/data/bulk', 'Check the application and the table;'],
])('a 404 of %s says what to check', (path, hint) => {
	const body = JSON.stringify({ errors: [{ message: 'No' }] });
	const failure = parseResponse({ statusCode: 404, headers: {}, body }, 'json', path);
	expect(failure).toMatchObject({ message: 'No', hint: expect.stringContaining(hint) });
});

const NETWORK = 'Check the platform and the network, then run it again.';
const GATEWAY = 'Something between n8n and the platform, such as a firewall, refused the request';
const TEXT = expect.stringContaining('Ask who runs the network');
const MESSAGE = 'Correct what the message names, then run it again.';
test.each<[string, status: number, body: unknown, message: string, hint: unknown]>([
	['texts by field', 400, { title: 'Wrong', errors: { age: ['is high.', 'is odd'] } }, 'age: is high; age: is odd', MESSAGE],
	['one error', 422, { errors: { id: 'a', message: 'Wrong' } }, 'Wrong', MESSAGE],
	['a title', 400, { title: 'Wrong.', detail: 'Age is high.' }, 'Wrong: Age is high', NETWORK],
	['a message', 400, { message: 'Down for maintenance' }, 'Down for maintenance', NETWORK],
	['plain text', 400, 'Down for maintenance.', `${GATEWAY} (400): Down for maintenance`, TEXT],
	['plain text of a failure', 503, 'Down', 'The platform failed (503): Down', NETWORK],
	['a page', 400, '<html><h1>Down</h1></html>', `${GATEWAY} (400)`, TEXT],
	['a list', 400, '["Down"]', `${GATEWAY} (400)`, TEXT],
	['nothing', 409, {}, `${GATEWAY} (409)`, TEXT],
])('an error of another form is read: %s', (_, status, body, message, hint) => {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	expect(parseResponse({ statusCode: status, headers: {}, body: text }, 'json')).toMatchObject({ message, hint });
});

describe('a response', () => {
	const DATE = 'Sat, 21 Nov 2026 09:30:00 GMT';
	const parse =
		(status: number, body: unknown, expect: BodyRequirement = 'json', headers: IDataObject = {}) =>
		() =>
			parseResponse({ statusCode: status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, expect);
	const entry = { id: 'code1', message: 'too young' };

	test.each<[string, ReturnType<typeof parse>, object]>([
		['JSON', parse(200, { data: 1 }), { status: 200, body: { data: 1 }, text: '{"data":1}' }],
		['no content', parse(204, '', 'nothing'), { status: 204, body: {} }],
		['anything', parse(200, 'hello', 'anything'), { status: 200, body: {}, text: 'hello' }],
		['an error beside data', parse(200, { data: [], errors: [entry] }), { status: 200 }],
		['an error beside counts', parse(200, { bulk: {}, errors: [entry] }), { status: 200 }],
		['only errors, if anything will do', parse(200, { errors: [entry] }, 'anything'), { body: { errors: [entry] } }],
		['the highest success', parse(299, {}), { status: 299 }],
	])('with a success: %s', (_, read, expected) => {
		const result = read();
		expect(result).not.toBeInstanceOf(ServiceError);
		expect(result).toMatchObject(expected);
	});

	const failed = (status: number, more: object = {}) => ({ status, ...more });
	test.each<[string, ReturnType<typeof parse>, object]>([
		[
			'a success with an error only',
			parse(200, { errors: [entry] }),
			failed(200, {
				message: 'The platform responded with success (200), and with an error: too young',
				delivery: 'ambiguous',
				code: 'code1',
				body: { errors: [entry] },
			}),
		],
		[
			'a success with an error’s code only',
			parse(200, { data: null, errors: [{ id: 'code1' }] }),
			{ message: 'The platform responded with success (200), and with an error: code1' },
		],
		[
			'a success with an error that says nothing',
			parse(201, { errors: [{}] }),
			{ message: 'The platform responded with success (201), and with an error: no reason given' },
		],
		[
			'a page in place of JSON',
			parse(200, '<html>', 'json', { 'content-type': 'text/html' }),
			failed(200, {
				message: "The platform's response could not be read (text/html, 6 characters)",
				delivery: 'ambiguous',
				hint: "Another server may have responded, such as a proxy. Check the 'Base URL' in the credential and the network.",
			}),
		],
		[
			'a media type without end',
			parse(200, '<html>', 'json', { 'content-type': 'x'.repeat(9000) }),
			{ message: `The platform's response could not be read (${'x'.repeat(100)}… (cut), 6 characters)` },
		],
		[
			'no text',
			() => parseResponse({ statusCode: 200, headers: {}, body: undefined } as never, 'json'),
			{ message: "The platform's response could not be read (no content type, 0 characters)" },
		],
		['a list', parse(200, '[]'), { message: "The platform's response could not be read (no content type, 2 characters)" }],
		['no content if JSON is expected', parse(204, ''), failed(204, { delivery: 'ambiguous' })],
		['nothing with another status', parse(200, '', 'nothing'), failed(200, { delivery: 'ambiguous' })],
		[
			'a redirect',
			parse(302, ''),
			failed(302, {
				message: 'The platform responded with a redirect (302), which is not followed, to keep the token from going elsewhere',
				delivery: 'rejected',
				hint: 'Enter the address that it leads to instead.',
			}),
		],
		['the lowest redirect', parse(300, {}), { message: expect.stringContaining('redirect (300)') }],
		['the highest redirect', parse(399, {}), { message: expect.stringContaining('redirect (399)') }],
		[
			'400',
			parse(400, { errors: [entry] }),
			failed(400, { message: 'too young', delivery: 'rejected', code: 'code1', stillPending: false }),
		],
		['400 without a reason', parse(400, { errors: [{}] }), { message: 'The platform rejected the request (400)' }],
		...[400, 403, 405, 406, 414, 422].map((status): [string, ReturnType<typeof parse>, object] => [
			`${status} of a gateway`,
			parse(status, '<html>'),
			failed(status, {
				message: `Something between n8n and the platform, such as a firewall, refused the request (${status})`,
				delivery: 'rejected',
				hint: 'It may dislike a text in the request. Ask who runs the network or the platform to allow it, or change the text.',
			}),
		]),
		['199', parse(199, {}), { message: 'The platform rejected the request (199)' }],
		['401', parse(401, { errors: [entry] }), { message: 'The platform did not accept the token: too young', delivery: 'rejected' }],
		['403', parse(403, { errors: [entry] }), { message: 'too young (403)' }],
		['403 without a reason', parse(403, { errors: [{}] }), { message: 'The token has no right to do this' }],
		['403 of a webhook', parse(403, '', 'anything'), { message: 'The token has no right to do this' }],
		[
			"404 without the platform's own error",
			parse(404, { message: 'no route' }),
			{
				message: 'The response is a 404 without an error from the platform',
				delivery: 'rejected',
				status: 404,
				body: { message: 'no route' },
				hint: "Another server may have responded, such as a proxy. Check the 'Base URL' in the credential and the network.",
			},
		],
		[
			'404',
			parse(404, { errors: [entry] }),
			{ message: 'too young', hint: expect.stringContaining('Check the application and the table;') },
		],
		[
			'413',
			parse(413, ''),
			{
				message: 'The request is too large for the platform',
				hint: 'Send less in one request: shorten its filter, its values or its body.',
			},
		],
		[
			'429 that says it already',
			parse(429, { errors: [{ message: 'Too many requests: 60 a minute are allowed' }] }),
			{ message: 'The platform asked to wait: Too many requests: 60 a minute are allowed' },
		],
		[
			'429',
			parse(429, ''),
			{
				message: 'The platform asked to wait: too many requests',
				delivery: 'notApplied',
				hint: "Set 'Requests per Minute' in the credential, under 'More Settings', to what the platform allows.",
				retryAfterMs: undefined,
			},
		],
		[
			'500',
			parse(500, ''),
			{
				hint: 'Check the platform and the network, then run it again.',
				message: 'The platform failed (500)',
				delivery: 'ambiguous',
				stillPending: false,
			},
		],
		[
			'507',
			parse(507, { errors: [entry] }),
			{
				message: 'too young (507)',
				delivery: 'rejected',
				hint: "Correct what the message names, then run it again. If the account's plan is the reason, make room or extend it.",
			},
		],
		['507 of a gateway', parse(507, ''), { delivery: 'ambiguous' }],
		['503', parse(503, ''), { delivery: 'ambiguous' }],
		['503 that asks to wait', parse(503, '', 'json', { 'retry-after': '7' }), { delivery: 'notApplied', retryAfterMs: 7000 }],
		['500 that asks to wait', parse(500, '', 'json', { 'retry-after': '7' }), { delivery: 'ambiguous', retryAfterMs: 7000 }],
		['504', parse(504, ''), { delivery: 'ambiguous', stillPending: true }],
		[
			'a time to wait for, by its own clock',
			parse(429, '', 'json', { date: DATE, 'retry-after': 'Sat, 21 Nov 2026 09:30:09 GMT' }),
			{ retryAfterMs: 9000 },
		],
		[
			'a time to wait for that is over by ours',
			parse(429, '', 'json', { 'retry-after': 'Sat, 21 Nov 2020 09:30:09 GMT' }),
			{ retryAfterMs: 0 },
		],
	])('with a failure: %s', (_, read, expected) => {
		const result = read();
		expect(result).toBeInstanceOf(ServiceError);
		expect(result).toMatchObject(expected);
	});
});

describe('a failure without a response', () => {
	const broke = (reason: string) => `The connection broke before the response was complete (${reason})`;
	const refused = (problem: string) => `The platform's certificate was not accepted: ${problem}`;
	const IGNORE = expect.stringContaining("turn on 'Ignore SSL Issues' in the credential") as string;
	const CHECK = 'Check the platform and the network, then run it again.';
	const network = (code: unknown, more: object = {}) =>
		Object.assign(new Error('Wrapped'), { cause: Object.assign(new Error('cause'), { code, ...more }) });
	const unreached = Object.assign(new Error('x'), { code: 'ENETUNREACH', syscall: 'connect' });
	/** The error of a write, with OpenSSL's reason. */
	const opensslError = (reason: string) =>
		network('EPROTO', { message: `write EPROTO 40A7D1:error:0A00010B:SSL routines:a_function:${reason}:../a.c:1:` });
	test.each<[unknown, object]>([
		[
			network('ECONNREFUSED'),
			{
				message: 'The platform could not be reached (ECONNREFUSED)',
				delivery: 'notApplied',
				hint: "Check the 'Base URL' in the credential and that the platform is up.",
			},
		],
		...['ENOTFOUND', 'EAI_AGAIN'].map<[unknown, object]>((code) => [network(code), { delivery: 'notApplied' }]),
		...['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].flatMap<[unknown, object]>((code) => [
			[network(code, { syscall: 'connect' }), { delivery: 'notApplied' }],
			// While the response was read, it may have been done.
			[network(code, { syscall: 'read' }), { delivery: 'ambiguous' }],
			[network(code), { delivery: 'ambiguous' }],
		]),
		// A host with several addresses: each failed so.
		[{ cause: Object.assign(new AggregateError([unreached, unreached]), { code: 'ENETUNREACH' }) }, { delivery: 'notApplied' }],
		[network('ECONNRESET', { syscall: 'connect' }), { delivery: 'ambiguous' }],
		[network('ETIMEDOUT'), { message: 'The platform did not respond in time', delivery: 'ambiguous', stillPending: true, hint: CHECK }],
		[network('ECONNABORTED'), { message: 'The platform did not respond in time' }],
		[network('ECONNRESET'), { message: broke('ECONNRESET'), delivery: 'ambiguous', hint: CHECK, stillPending: undefined }],
		[network('CODE1'), { message: expect.stringContaining('(CODE1)') }],
		[network('1CODE'), { message: expect.stringContaining('(1CODE)') }],
		[new Error('plain'), { message: broke('plain') }],
		[
			Object.assign(new Error('outer'), { cause: Object.assign(new Error('middle'), { cause: new Error('inner') }) }),
			{ message: broke('inner') },
		],
		[Object.assign(new Error('outer'), { cause: 'text' }), { message: broke('outer') }],
		[Object.assign(new Error('outer'), { cause: null }), { message: broke('outer') }],
		[network('500'), { message: broke('cause') }],
		[network(500), { message: broke('cause') }],
		['text', { message: broke('no reason given') }],
		[undefined, { message: broke('no reason given') }],
		[network('CERT_HAS_EXPIRED'), { message: refused('cause (CERT_HAS_EXPIRED)'), delivery: 'rejected', hint: IGNORE }],
		[network('SOME_CERT_PROBLEM'), { message: refused('cause (SOME_CERT_PROBLEM)') }],
		...[...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_UNTRUSTED', 'ERR_TLS_CERT_ALTNAME_INVALID']].map<
			[unknown, object]
		>((code) => [network(code), { delivery: 'rejected', hint: IGNORE }]),
		[network('ERR_TLS_X'), { delivery: 'ambiguous' }],
		[network('ERR_TLS_DH_PARAM_SIZE'), { delivery: 'rejected' }],
		...[
			'ERR_SSL_WRONG_VERSION_NUMBER',
			'ERR_SSL_UNSUPPORTED_PROTOCOL',
			'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
			'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
			'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
			'ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED',
		].map<[unknown, object]>((code) => [
			network(code),
			{
				message: `Could not establish a secure connection (${code}). Nothing was sent`,
				delivery: 'rejected',
				hint: expect.stringContaining('Check the address and its port'),
			},
		]),
		[opensslError('wrong version number'), { message: expect.stringContaining('(ERR_SSL_WRONG_VERSION_NUMBER)'), delivery: 'rejected' }],
		...[
			'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
			'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
			'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN',
			'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
		].map<[unknown, object]>((code) => [
			network(code),
			{
				message: `The server asks for a client certificate (${code})`,
				delivery: 'rejected',
				hint: expect.stringContaining('an address without it'),
			},
		]),
		[
			opensslError('tlsv13 alert certificate required'),
			{ message: expect.stringContaining('asks for a client certificate'), delivery: 'rejected' },
		],
		// The connection was established: the request may have been sent.
		...[
			'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
			'ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC',
			'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
			'ERR_SSL_UNEXPECTED_EOF_WHILE_READING',
			'ERR_SSL_PACKET_LENGTH_TOO_LONG',
			'EPROTO',
			'X_ERR_SSL',
		].map<[unknown, object]>((code) => [network(code), { message: broke(code), delivery: 'ambiguous', hint: CHECK }]),
		[
			opensslError('decryption failed or bad record mac'),
			{ message: expect.stringContaining('(ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC)'), delivery: 'ambiguous' },
		],
	])('%s', (error, expected) => {
		expect(toServiceError(error)).toMatchObject(expected);
	});

	test('keeps what is known already, and where the token may not go', () => {
		const known = new ServiceError('known', { delivery: 'rejected' });
		expect(toServiceError(Object.assign(new Error(''), { cause: known }))).toBe(known);
		const origin = new InputError('not there', { hint: 'a hint' });
		expect(toServiceError(Object.assign(new Error(''), { cause: origin }))).toMatchObject({
			message: 'not there',
			delivery: 'rejected',
			hint: 'a hint',
		});
	});
});

test.each([-1, 1])('a turn ends in time if the clock is set by %i hours meanwhile', (hours) => {
	jest.useFakeTimers();
	const pause = createPause();
	jest.setSystemTime(Date.now() + hours * 3600_000);
	expect(pause()).toBeUndefined();
	jest.advanceTimersByTime(60);
	expect(pause()).toBeInstanceOf(Promise);
	jest.useRealTimers();
});

describe('entries worked on a few at a time', () => {
	test('in order, and no further one after an error, which waits for the others', async () => {
		const begun: number[] = [];
		const ended: number[] = [];
		const failed = Promise.withResolvers<void>();
		const run = forEachConcurrent([0, 1, 2, 3, 4, 5], 2, async (entry) => {
			begun.push(entry);
			if (entry === 1) {
				setImmediate(failed.resolve);
				throw new Error('one');
			}
			await failed.promise;
			ended.push(entry);
		});
		await expect(run).rejects.toThrow('one');
		expect([begun, ended]).toEqual([[0, 1], [0]]);
	});

	test('all of them', async () => {
		const done: number[] = [];
		await forEachConcurrent([0, 1, 2], 2, async (entry) => {
			await Promise.resolve();
			done.push(entry);
		});
		expect(done).toEqual([0, 1, 2]);
	});
});
