/** What a response reports about each record of its request. */
import { entriesToPair, parseBulkResponse, readReports } from '../../../../nodes/DataPlatform/bulk/send/reports.ts';
import { sendableOf } from '../../fixtures.cts';
import type { Listed, Reported, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

/** `x0 y`: a record `x` with the version 0, and `y` without any. */
const dataOf = (text: string) =>
	text.split(' ').flatMap((each) => {
		const [id, ver] = each;
		return id === undefined ? [] : [{ id, ver: ver === undefined ? undefined : Number(ver) }];
	});

/** `1/2/3`: inserted, updated and successful records; `-` if they are not counted. */
function countsOf(text: string) {
	const [insertedCount, updatedCount, successCount] = text.split('/').map((count) => (count === '-' ? undefined : Number(count)));
	return { insertedCount, updatedCount, successCount };
}

/** `0?`: an error of the first record, and one that names none. */
const errorsOf = (text: string) => [...text].map((at) => (at === '?' ? { message: 'vague' } : { message: 'bad', RecordIndex: +at }));

/** @param sent a letter for each record, which is its ID */
function reportsOf(mode: WriteMode, sent: string, data: string, counts: string, errors = '') {
	const entries = [...sent].map((id, index) => sendableOf({ index, id }));
	const body = { data: data === 'none' ? undefined : dataOf(data), bulk: countsOf(counts), errors: errorsOf(errors) };
	return readReports(entries, parseBulkResponse(body, sent.length), mode);
}

const newness = ({ isNew }: Listed) => (isNew ? 'new' : 'old');

/** A report in one or two words. */
function describeReport(report: Reported): string {
	if (report.as === 'rejected') return report.rejection.message!;
	if (report.as !== 'listed') return report.as;
	return `${report.record?.id ?? 'no ID'} ${report.isNew === undefined ? '?' : newness(report)}`;
}

const describeReports = (...row: Parameters<typeof reportsOf>) =>
	reportsOf(...row)
		.map(describeReport)
		.join(', ');

describe('which of two upserted records are new', () => {
	test.each([
		['none, as none is inserted', 'x0 y0', '0/-/-', 'x old, y old'],
		['both, as both are inserted', 'x1 y', '2/-/-', 'x new, y new'],
		['the one with the first version', 'x3 y0', '1/1/-', 'x old, y new'],
		['that one, though updates are not counted', 'x0 y3', '1/-/-', 'x new, y old'],
		['unknown, as both have the first version', 'x0 y0', '1/1/-', 'x ?, y ?'],
		['unknown, as none has the first version', 'x1 y1', '1/1/-', 'x ?, y ?'],
		['unknown, as they have no version', 'x y', '1/1/-', 'x ?, y ?'],
		['unknown, as inserts are not counted', 'x0 y3', '-/1/-', 'x ?, y ?'],
	])('%s: %s, counted %s', (_, data, counts, reports) => {
		expect(describeReports('upsert', 'ab', data, counts)).toBe(reports);
	});

	test.each([
		['it is new, as only one was inserted', 'x5', '1/0/3', true],
		['it is not, as none was inserted', 'x0', '0/1/3', false],
		['it is new, as all were inserted', 'x5', '3/0/3', true],
		['unknown, as another one was inserted', 'x0', '2/0/3', undefined],
		['unknown, as the counts mean two records', 'x0', '1/1/3', undefined],
	])('if one of three is listed: %s', (_, data, counts, isNew) => {
		const [report] = reportsOf('upsert', 'abc', data, counts);
		const { listed } = report as Extract<Reported, { as: 'omitted' }>;
		expect([...listed.keys()]).toEqual(['x']);
		expect(listed.get('x')).toMatchObject({ record: { id: 'x' }, isNew });
	});
});

test.each<[string, WriteMode, sent: string, data: string, counts: string, string, string]>([
	['updates are listed by ID', 'update', 'abc', 'c1 a1', '0/2/3', '', 'a old, omitted, c old'],
	['full updates, too', 'replace', 'ab', 'b1 a1', '0/2/2', '', 'a old, b old'],
	['a listed record that was not sent', 'update', 'ab', 'a1 z1', '0/2/2', '', 'a old, omitted'],
	['others are listed by position', 'upsert', 'ab', 'z0 a1', '0/2/2', '', 'z old, a old'],
	['after a rejected one', 'create', 'abc', 'x0 y0', '2/0/2', '1', 'x new, bad, y new'],
	['without counts', 'create', 'ab', 'x0 y0', '-/-/-', '', 'x ?, y ?'],
	['unless one is omitted', 'upsert', 'abc', 'x1 y1', '0/2/3', '', 'omitted, omitted, omitted'],
	['nothing changed', 'upsert', 'ab', '', '0/0/2', '', 'omitted, omitted'],
	['only successes are counted', 'upsert', 'ab', '', '-/-/2', '', 'omitted, omitted'],
	['counts alone', 'update', 'ab', 'none', '0/-/2', '', 'unclear, unclear'],
	['counts that no list contradicts', 'update', 'ab', 'none', '0/0/2', '', 'omitted, omitted'],
	['counts alone of new records', 'upsert', 'ab', 'none', '2/-/2', '', 'unclear, unclear'],
	['one of two is rejected', 'upsert', 'ab', '', '0/0/1', '0', 'bad, omitted'],
	['creations are only counted', 'create', 'ab', '', '2/0/2', '', 'omitted, omitted'],
	['as successes', 'create', 'ab', 'x0', '-/-/2', '', 'omitted, omitted'],
	['none was inserted', 'create', 'ab', '', '0/0/2', '', 'unclear, unclear'],
	['successes are not counted', 'upsert', 'ab', 'x1', '-/-/-', '', 'unclear, unclear'],
	['fewer successes', 'upsert', 'ab', 'x1', '0/1/1', '', 'unclear, unclear'],
	['fewer successes than listed', 'upsert', 'ab', 'x1 y1', '0/2/1', '', 'unclear, unclear'],
	['more successes', 'upsert', 'ab', '', '-/-/3', '', 'unclear, unclear'],
	['the rejected one is counted', 'update', 'ab', '', '0/0/2', '0', 'bad, unclear'],
	['an error names no record', 'upsert', 'ab', 'x1 y1', '0/2/2', '?', 'unclear, unclear'],
	['but none was written', 'create', 'ab', '', '0/0/0', '?', 'vague, vague'],
	['beside one that is named', 'upsert', 'abc', '', '0/0/0', '?0', 'bad, vague, vague'],
	['so it may mean any', 'update', 'ab', 'a1', '0/1/2', '?', 'a old, unclear'],
	['more updates than listed', 'update', 'ab', 'a1', '0/2/2', '', 'a old, unclear'],
	['while inserts are not counted', 'update', 'ab', 'a1', '-/2/2', '', 'a ?, unclear'],
	['more inserts than listed', 'upsert', 'ab', '', '1/0/2', '', 'unclear, unclear'],
	['while updates are not counted', 'upsert', 'ab', '', '1/-/2', '', 'unclear, unclear'],
	['fewer than listed', 'upsert', 'ab', 'x1', '0/0/2', '', 'unclear, unclear'],
	['all are listed, fewer counted', 'upsert', 'ab', 'x1 y1', '1/0/2', '', 'unclear, unclear'],
	['a record is listed twice', 'upsert', 'ab', 'x1 x1', '0/2/2', '', 'unclear, unclear'],
	['more are listed than sent', 'upsert', 'a', 'x1 y1', '0/2/1', '', 'unclear'],
])('%s: %s of %s, listed "%s", counted %s, errors "%s": %s', (_, mode, ...row) => {
	const [sent, data, counts, errors, reports] = row;
	expect(describeReports(mode, sent, data, counts, errors)).toBe(reports);
});

const fewer = { message: 'it counted 1 of 2 records as written' };
test('an update is listed by its ID, also in capitals', () => {
	const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
	const entries = [sendableOf({ id: id.toUpperCase() })];
	const response = parseBulkResponse({ data: [{ id }] }, 1);
	expect(readReports(entries, response, 'update')).toMatchObject([{ as: 'listed' }]);
});

test.each<[string, counts: string, errors: string, reasons: unknown[], namesOthers: boolean]>([
	['errors that name none', '0/0/1', '?0', [{ message: 'vague' }], false],
	['fewer successes', '0/0/1', '2', [fewer], true],
	['nothing, beside a rejected record', '-/-/-', '2', [], true],
	['nothing, if more are counted', '0/0/3', '2', [], true],
])('why records were not written: %s', (_, counts, errors, reasons, namesOthers) => {
	const [, report] = reportsOf('upsert', 'abc', '', counts, errors);
	expect(report).toMatchObject({ as: 'unclear', reasons, namesOthers });
});

test('if no record is named, none is at fault', () => {
	expect(reportsOf('upsert', 'a', '', '0/0/0')[0]).toMatchObject({ namesOthers: false });
});

describe('reading a response', () => {
	test('errors by position, whatever the case of RecordIndex, also as text', () => {
		const positions = [{ RecordIndex: 1 }, { recordIndex: '0' }, {}, { RecordIndex: 2 }];
		const invalid = [{ RecordIndex: -1 }, { RecordIndex: 'one' }];
		const errors = [...positions, ...invalid].map((each, at) => ({ ...each, message: `${at}` }));
		const { failed, unattributedErrors } = parseBulkResponse({ errors }, 2);
		expect([...failed].map(([index, { message }]) => `${index}: ${message}`)).toEqual(['1: 0', '0: 1']);
		expect(unattributedErrors.map(({ message }) => message)).toEqual(['2', '3', '4', '5']);
	});

	test('several errors of one record are joined', () => {
		const [a, b] = ['a', 'b'].map((text) => ({ id: text, message: text, RecordIndex: 0 }));
		const { failed } = parseBulkResponse({ errors: [a, b, { RecordIndex: 0 }] }, 1);
		expect(failed.get(0)).toMatchObject({ id: 'a', message: 'a; b' });
	});

	test.each([[undefined], [{}], ['x'], [[{ id: 'a' }, {}]], [[null]]])('%j is not a list of records, and confirms nothing', (data) =>
		expect(parseBulkResponse({ data, bulk: 'x' }, 2).data).toEqual([]),
	);

	test.each([
		['2', 2],
		['', undefined],
		['two', undefined],
		[null, undefined],
	])('the count %j is %j', (insertedCount, read) => {
		expect(parseBulkResponse({ bulk: { insertedCount } }, 2).insertedCount).toBe(read);
	});
});

test.each<[string, mode: WriteMode, sent: string, data: string, counts: string, errors: string, paired: string]>([
	['all that are listed', 'create', 'abc', 'x y z', '3/0/3', '', 'abc'],
	['all but those that an error names', 'create', 'abc', 'x y', '2/0/2', '1', 'ac'],
	['also those that were rejected, if nobody knows which', 'create', 'abc', 'x y', '2/0/2', '?', 'abc'],
	['none, if that is an upsert, which may find more', 'upsert', 'abc', 'x y', '2/0/2', '?', ''],
	['none, if more were written than are listed', 'create', 'abc', 'x', '2/0/2', '?', ''],
	['none, if nothing was written', 'create', 'abc', '', '0/0/0', '?', ''],
	['none, if some are not listed and nothing was rejected', 'create', 'abc', 'x y', '2/0/2', '', ''],
	['none of updates, which have their IDs', 'update', 'abc', 'a b c', '0/3/3', '', ''],
	['not a single one', 'create', 'ab', 'x', '1/0/1', '0', ''],
])('records whose IDs only the order of the list tells: %s', (_, mode, sent, data, counts, errors, paired) => {
	const entries = [...sent].map((id, index) => sendableOf({ index, id }));
	const body = { data: dataOf(data), bulk: countsOf(counts), errors: errorsOf(errors) };
	const pairedEntries = entriesToPair(entries, parseBulkResponse(body, sent.length), mode);
	expect(pairedEntries.map(({ id }) => id).join('')).toBe(paired);
});
