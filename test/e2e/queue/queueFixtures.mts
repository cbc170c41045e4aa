/** What the tests of queue mode share: tables, a source of items, nodes, and independent checks. */

import type { RunningSandbox } from '../../../harness/sandboxProcess.mts';
import type { JsonObject } from '../../../harness/n8nApi.mts';
import { AUTOMATIC, baseNode, inTable, platformNode, type Step } from '../../support/linearWorkflow.mts';
import { type StubServer, jsonResponse, startStubServer } from '../../support/stubServer.mts';

export const APP = 'shop';
/** Its import key is `number`. */
export const ORDERS = 'orders';
/** Without an import key, only the node itself can know what it has written. */
export const NOTES = 'notes';

const text = (name: string, metadata: JsonObject = {}) => ({ name, type: 'text', metadata });

/** Creates the tables, empty unless there are initial orders. */
export async function createTables({ admin }: RunningSandbox, orders: JsonObject[] = []): Promise<void> {
	const tables = [
		{
			internalName: ORDERS,
			fields: [text('number', { required: true, importKey: true }), text('run'), text('again'), { name: 'papers', type: 'file' }],
		},
		{ internalName: NOTES, fields: [text('text')] },
	];
	for (const table of tables) {
		const records = table.internalName === ORDERS ? orders.map((fields) => ({ fields })) : [];
		await admin.createTable({ app: APP, timeZone: 'UTC', table, records });
	}
}

/**
 * Serves orders as JSON: `/orders?prefix=A&count=3&run=one` returns A1 to A3, and each names its
 * run twice. With `skipped=1` the first one comes last: A2, A3, A1.
 */
export async function serveOrders(): Promise<StubServer> {
	return await startStubServer(({ target }) => {
		const query = new URL(target, 'http://127.0.0.1').searchParams;
		const [prefix, run] = [query.get('prefix') ?? '', query.get('run') ?? ''];
		const [total, skipped] = [Number(query.get('count')), Number(query.get('skipped'))];
		const orders = Array.from({ length: total }, (_, index) => ({
			number: `${prefix}${1 + ((index + skipped) % total)}`,
			run,
			again: run,
		}));
		return jsonResponse(orders);
	});
}

/** n8n's HTTP Request node, which makes an item from each element of a list. */
export const fetchItemsNode = (url: string) => baseNode('Get', 'httpRequest', 4.2, { url, options: {} });

/** Our node on all items at once, with the fields named as in the items. */
export function writeManyNode(operation: string, table: string, settings: JsonObject = {}, options: JsonObject = {}): Step {
	return { ...platformNode('Write', `record: ${operation}`, { ...inTable(APP, table), columns: AUTOMATIC, options }), ...settings };
}

/** Import From File or Export to File, on the orders. */
export const rowFileNode = (name: string, operation: string, options: JsonObject = {}) =>
	platformNode(name, `record: ${operation}`, { ...inTable(APP, ORDERS), options });

export const attachmentNode = (name: string, operation: string, parameters: JsonObject) =>
	platformNode(name, `attachment: ${operation}`, { ...inTable(APP, ORDERS), fileField: 'papers', options: {}, ...parameters });
