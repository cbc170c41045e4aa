/**
 * Names and IDs that try to be more than that: whatever they contain, a request goes to the right
 * path, or none is sent. A stub server plays the platform, because the raw request matters; the
 * sandbox shows it decoded.
 */
import type { IDataObject } from 'n8n-workflow';
import { picked, runOperation } from '../support/engine/engine.cts';
import { useStubServer } from './useStubServer.cts';

const platform = useStubServer();

const run = async (parameters: IDataObject) =>
	await runOperation({ baseUrl: platform.origin, token: 'made-up' }, { parameters: { options: {}, ...parameters } });

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** Sent unchanged, each as a single segment. */
const names = [
	'../users/me',
	'..%2f..%2fusers%2fme',
	'%2e%2e',
	'%2E%2E/users',
	'.%2e',
	'...',
	'a/b',
	'/',
	'//evil.example.com',
	'?limit=0',
	'a?b=c&d=e',
	'a#b',
	'..\\..\\users',
	'\\\\evil.example.com',
	'http://evil.example.com/',
	'a;b,c:d@e',
	'a%b',
	'%',
	'%00',
	'a+b',
	'a b',
	'a\u0000b',
	'a\tb\nc',
	'a\r\nX-Injected: yes',
	'ü–漢字',
	'👩‍👧',
	'\u202egnp.exe',
	'ﬀ．．／',
	'__proto__',
	'constructor',
	"'; DROP TABLE contacts; --",
	'<script>alert(1)</script>',
	'{{ 1 + 1 }}',
	'x'.repeat(8_000),
];

/** No encoding makes these safe. */
const impossible: Array<[name: string, error: string]> = [
	['.', "'.' cannot be the name or ID of anything"],
	['..', "'..' cannot be the name or ID of anything"],
	[' .. ', "'..' cannot be the name or ID of anything"],
	['a\ud83d', 'contains half of a character'],
	['\udc00', 'contains half of a character'],
];

const record = { id: 'r1', ver: 1, fields: { papers: [] as IDataObject[] } };

/** The places of a name in a request: what to do, and the segments around the name. */
const places: Array<[place: string, parameters: (name: string) => IDataObject, before: string[], after: string[]]> = [
	['the application of tables', (name) => ({ resource: 'table', operation: 'getAll', application: byId(name) }), ['apps'], ['tables']],
	[
		'a table',
		(name) => ({ resource: 'record', operation: 'getAll', application: picked('crm'), table: byId(name) }),
		['apps', 'crm', 'tables'],
		['data'],
	],
	[
		'a table without an application',
		(name) => ({ resource: 'record', operation: 'count', application: picked(''), table: byId(name) }),
		[],
		['data', 'count'],
	],
	[
		'a record that is read',
		(name) => ({ resource: 'record', operation: 'get', application: picked('crm'), table: picked('contacts'), recordId: byId(name) }),
		['apps', 'crm', 'tables', 'contacts', 'data'],
		[],
	],
];

/** The segments of a request's path, decoded once, as a correct server reads it. */
const segments = (target: string) => {
	expect(target).toMatch(/^\/[\x21-\x7e]*$/);
	const path = target.replace(/\?.*$/, '');
	// Gateways have the same parser: it must not normalize anything in the path.
	expect(new URL(path, 'https://platform.example.com').pathname).toBe(path);
	return path.split('/').slice(1).map(decodeURIComponent);
};

describe.each(places)('%s', (_, parameters, before, after) => {
	test('is requested by its name, whatever it contains', async () => {
		platform.respond = () => ({ status: 404, body: '{"errors":[]}' });
		for (const name of names) {
			platform.requests.length = 0;
			await run(parameters(name));
			expect(platform.requests).toHaveLength(1);
			const [{ target, headers }] = platform.requests as [(typeof platform.requests)[0]];
			expect(segments(target)).toEqual(['api', 'v2', ...before, name.trim(), ...after]);
			expect(headers).not.toHaveProperty('x-injected');
			expect(headers.host).toBe(new URL(platform.origin).host);
		}
	});

	test.each(impossible)('is not requested as %j', async (name, error) => {
		const result = await run(parameters(name));
		expect(result.error?.message).toContain(error);
		expect(result.error?.message).toContain('Nothing was sent');
		expect(result.error?.description).toMatch(/Choose|Enter|Use|Correct|Check/);
		expect(platform.requests).toEqual([]);
	});

	test.each(['', '   ', '\n'])('is missing if an expression returns %j', async (name) => {
		const result = await run(parameters(`={{ ${JSON.stringify(name)} }}`));
		expect(result.error?.message).toContain('is empty');
		expect(platform.requests).toEqual([]);
	});
});

describe('a file name from the platform', () => {
	const download = async (file: IDataObject) => {
		platform.respond = ({ target }) => ({
			body: target.includes('/files/') ? 'content' : JSON.stringify({ data: { ...record, fields: { papers: [file] } } }),
		});
		return await run({
			resource: 'attachment',
			operation: 'download',
			application: picked('crm'),
			table: picked('deals'),
			recordId: byId('r1'),
			fileField: 'papers',
			outputField: 'data',
		});
	};

	test('is fetched by its ID, whatever it contains', async () => {
		for (const fileId of names) {
			platform.requests.length = 0;
			const result = await download({ fileId, fileName: 'a.txt' });
			expect(result.error).toBeUndefined();
			const fetched = platform.requests.at(-1)!.target;
			expect(segments(fetched).slice(-2)).toEqual(['files', fileId]);
		}
	});

	test.each(['.', '..', '\ud800'])('is not fetched as %j', async (fileId) => {
		const result = await download({ fileId, fileName: 'a.txt' });
		expect(result.error?.message).toContain('Nothing was sent');
		expect(platform.requests).toHaveLength(1);
	});
});

describe('in a query', () => {
	const query = () => new URL(platform.requests.at(-1)!.target, platform.origin).searchParams;
	const reading = { resource: 'record', operation: 'getAll', application: picked('crm'), table: picked('contacts') };

	test('a saved view is one value', async () => {
		for (const savedView of names) {
			await run({ ...reading, options: { savedView } });
			expect([...query().keys()].sort()).toEqual(['limit', 'sort', 'userFilter']);
			expect(query().get('userFilter')).toBe(savedView);
		}
	});

	test('half a character is rejected', async () => {
		const result = await run({ ...reading, options: { savedView: 'a\ud83d' } });
		expect(result.error?.message).toContain('"a\\ud83d" contains half of a character');
		expect(platform.requests).toEqual([]);
	});
});
