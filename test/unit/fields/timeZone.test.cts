/** When the application's time zone is asked for, and what is made of the answer. */
import type { DefinedTable } from '../../../nodes/DataPlatform/api/types.ts';
import { resolveTimeZone } from '../../../nodes/DataPlatform/fields/timeZone.ts';
import { needsTimeZone } from '../../../nodes/DataPlatform/fields/values.ts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { fakePlatform, httpResponse, notFound } from '../stubPlatform.cts';

test.each<[type: string, value: unknown, isNeeded: boolean]>([
	['datetime', '2026-11-21T09:30:00', true],
	['datetime', '2026-11-21 09:30', true],
	['datetime', '2026-11-21T09:30:00Z', false],
	['datetime', '2026-11-21', true],
	['date', '2026-11-21T23:30:00+01:00', true],
	['date', '2026-11-21', false],
	['date', 'soon', false],
	['datetime', '', false],
	['datetime', null, false],
	['text', '2026-11-21T09:30:00', false],
	['chips', ['a'], false],
])('%s %j needs the zone: %s', (type, value, isNeeded) => {
	expect(needsTimeZone(fieldOf('f', type), value)).toBe(isNeeded);
	// Known, or known to be unknown.
	for (const timeZone of ['Europe/Berlin', '']) expect(needsTimeZone(fieldOf('f', type, { timeZone }), value)).toBe(false);
});

/** The zones of a table's fields after values came, and the requests for them. */
async function zonesAfter(rows: unknown[], answer: () => ReturnType<typeof httpResponse>, application = 'shop') {
	const { connection, sent } = fakePlatform(answer);
	const table = tableOf(fieldOf('name'), fieldOf('at', 'datetime'), fieldOf('due', 'date'));
	await resolveTimeZone({ client: connection, at: { application, table: 'people' }, table } as unknown as DefinedTable, rows);
	return { zones: table.fields.map(({ metadata }) => metadata.timeZone), requests: sent.map(({ url }) => new URL(url).pathname) };
}

const LOCAL = { name: 'a', at: '2026-11-21T09:30:00' };
const berlin = () => httpResponse(200, { data: { id: '1', timeZone: 'Europe/Berlin' } });

test('it is asked for once a value needs it, for all dates and times of the table', async () => {
	const all = { zones: [undefined, 'Europe/Berlin', 'Europe/Berlin'], requests: ['/api/v2/apps/shop'] };
	expect(await zonesAfter([LOCAL], berlin)).toEqual(all);
	expect(await zonesAfter([null, { at: 'Z' }, { due: '2026-11-21' }, LOCAL], berlin)).toEqual(all);
});

test.each([[[]], [[{ name: LOCAL.at }]], [[{ at: `${LOCAL.at}Z`, due: '2026-11-21' }]], [[null, 'text', [LOCAL.at]]]])(
	'it is not asked for: %j',
	async (rows) => {
		expect(await zonesAfter(rows, berlin)).toEqual({ zones: [undefined, undefined, undefined], requests: [] });
	},
);

test.each<[string, () => ReturnType<typeof httpResponse>]>([
	['the platform has none', () => httpResponse(200, { data: { id: '1' } })],
	['only the platform knows its name', () => httpResponse(200, { data: { id: '1', timeZone: 'W. Europe Standard Time' } })],
	['the application is hidden', notFound],
])('it counts as unknown if %s', async (_, answer) => {
	expect((await zonesAfter([LOCAL], answer)).zones).toEqual([undefined, '', '']);
});

test('it counts as unknown without an application, and is not asked for', async () => {
	expect(await zonesAfter([LOCAL], berlin, '')).toEqual({ zones: [undefined, '', ''], requests: [] });
});
