/** IDs in capitals, as other systems write UUIDs: the platform compares IDs exactly in paths and bodies. */
import { picked } from '../support/engine/engine.cts';
import { listen } from '../support/engine/webhooks.cts';
import { APP, byId, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const idOf = (digit: string) => `abcdef00-0000-4000-8000-00000000000${digit}`;
const [A, B] = [idOf('a'), idOf('b')];
const capital = (id: string) => id.toUpperCase();

beforeEach(async () => {
	const fields = [
		{ name: 'number', type: 'text', metadata: { importKey: true } },
		{ name: 'related', type: 'schema_link', metadata: { linkTableId: 'orders', multiple: true } },
	];
	const records = [
		{ id: A, fields: { number: '1' } },
		{ id: B, fields: { number: '2', related: { add: [A] } } },
	];
	await harness.sandbox.admin.createTable({ app: APP, table: { internalName: 'orders', fields }, records });
});

const relatedOfB = async () => (await harness.records()).find(({ id }) => id === B)?.fields.related ?? [];

test.each<[name: string, related: unknown, expected: unknown]>([
	['one more', { add: [capital(B)] }, [A, B]],
	['one ID', capital(B), [A, B]],
	['a list', [capital(B), B], [A, B]],
	['less', { remove: [capital(A)] }, []],
	['a record', { id: capital(B), fields: {} }, [A, B]],
])('a link: %s', async (_name, related, expected) => {
	const result = await harness.run('update', { items: [{ id: capital(B), related }], parameters: byId });
	expect(outcomes(result)).toEqual(['updated']);
	expect(await relatedOfB()).toEqual(expected);
});

test.each<[string, Run]>([
	['getAll', { options: { linkedTo: { record: { linkField: 'orders.related', recordId: capital(B) } } } }],
	['get', { items: [{ id: capital(A) }], parameters: byId }],
])('%s', async (operation, run) => {
	const result = await harness.run(operation, run);
	expect(result.json()).toMatchObject([{ id: A }]);
});

test('the webhook trigger emits a deletion once', async () => {
	const secret = 'a long random text';
	const workflow = await listen({ ...harness.credential, webhookSecret: secret }, { application: picked(APP), table: picked('orders') });
	const receive = async (recordId: string) => {
		const { items } = await workflow.receive({ recordId }, { authorization: `Bearer ${secret}` });
		return items?.map(({ event, id }) => `${String(event)} ${String(id)}`);
	};
	expect(await receive(capital(A))).toEqual([`created ${A}`]);
	expect(await receive(A)).toBeUndefined();
	await harness.remove(A);
	expect(await receive(A)).toEqual([`deleted ${A}`]);
	expect(await receive(capital(A))).toBeUndefined();
});
