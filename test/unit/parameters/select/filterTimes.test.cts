import { and, type Condition } from '../../../../nodes/DataPlatform/api/filters.ts';
import { timesInUtc } from '../../../../nodes/DataPlatform/parameters/select/filter.ts';
import { fieldOf, tableOf } from '../../fixtures.cts';

const TIME = '2026-11-21T09:30:00.1234567+01:00';
const UTC = '2026-11-21T08:30:00.123Z';
const tasks = tableOf(fieldOf('text'), fieldOf('at', 'datetime'), fieldOf('day', 'date', { timeZone: 'Europe/Berlin' }));

type Row = [field: string, operator: string, value: Condition['value'], sent: Condition['value']];

const sent = (value: Condition, table?: typeof tasks) => timesInUtc(and(and(value)), table);

test.each<Row>([
	['at', 'gt', TIME, UTC],
	['at', 'in', [TIME, '2026-11-21'], [UTC, '2026-11-21']],
	['at', 'eq', '2026-11-21 09:30', '2026-11-21T09:30:00'],
	['at', 'contains', TIME, TIME],
	['at', 'gt', 'soon', 'soon'],
	['day', 'lt', '2026-11-21T23:30:00Z', '2026-11-22'],
	['day', 'eq', '2026-11-21T00:00:00+09:00', '2026-11-21'],
	['text', 'gt', TIME, TIME],
	['text', 'eq', TIME, TIME],
	['modified', 'gte', TIME, UTC],
	['created', 'eq', TIME, UTC],
	['company.founded', 'gte', TIME, UTC],
	['company.name', 'eq', TIME, TIME],
])('%s %s %j is sent as %j', (field, operator, value, expected) => {
	expect(sent({ field, operator, value }, tasks)).toEqual(and(and({ field, operator, value: expected })));
});

const inBerlin = tableOf(fieldOf('at', 'datetime', { timeZone: 'Europe/Berlin' }), fieldOf('day', 'date'));

test.each([
	['day', 'eq', '2026-11-21T24:00:00', 'accepts a date such as 2026-11-21, not "2026-11-21T24:00:00"'],
	['at', 'gt', '2026-10-25T02:30:00', 'is a time that occurs twice in Europe/Berlin: 2026-10-25T02:30:00'],
	['at', 'in', '2026-03-29 02:30', 'is a time that the clocks skip in Europe/Berlin: 2026-03-29T02:30:00'],
	['modified', 'lt', '2026-11-21T24:00:00', 'accepts a date and time such as 2026-11-21T09:30:00Z, not "2026-11-21T24:00:00"'],
])('%s %s %j could mean several times: an error', (field, operator, value, problem) => {
	const condition = { field, operator, value: operator === 'in' ? [value] : value };
	expect(() => sent(condition, inBerlin)).toThrow(`The condition on '${field}' (${operator}) ${problem}`);
});

test.each<Row>([
	['at', 'gt', TIME, UTC],
	['at', 'gt', '2026-11-21T24:00:00', '2026-11-21T24:00:00'],
	['at', 'eq', TIME, TIME],
	['modified', 'eq', TIME, UTC],
	['at', 'empty', undefined, undefined],
])('without a definition, %s %s %j is sent as %j', (field, operator, value, expected) => {
	expect(sent({ field, operator, value })).toEqual(and(and({ field, operator, value: expected })));
});
