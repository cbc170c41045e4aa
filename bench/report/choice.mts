/** The few rows that docs/performance.md shows, and for whom each decides. */
import type { Row } from './row.mts';

const CHOICE: Array<[name: string, decidesFor: string]> = [
	['Create or Update, 1 item, HTTPS, 25 ms', 'a webhook, an agent'],
	['Create or Update, 20 items, HTTPS, 25 ms', 'a form, a short list'],
	['upsert 1,000, HTTPS, 25 ms', 'an hourly list'],
	['upsert 10,000, mapped by hand, HTTPS, 25 ms', 'a table of another system'],
	['import 100,000 rows of a CSV file, HTTP', 'a file, memory'],
];

/** The chosen rows that were measured. */
export const chosenRows = (rows: Row[]): Array<[row: Row, decidesFor: string]> =>
	CHOICE.flatMap(([name, decidesFor]): Array<[Row, string]> => {
		const row = rows.find((measured) => measured.name === name);
		return row ? [[row, decidesFor]] : [];
	});
