/** With `N8N_SSRF_PROTECTION_ENABLED`, n8n sends nothing to its own network. */
import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import { checkCredential } from '../support/engine/engine.cts';
import { useHarness } from './fixtures.cts';

const harness = useHarness();

beforeAll(() => {
	Container.get(SsrfProtectionConfig).enabled = true;
});
afterAll(() => {
	Container.get(SsrfProtectionConfig).enabled = false;
});

const MESSAGE = "n8n's SSRF protection blocks the platform's address. Nothing was sent";

test.each([
	['getAll', {}],
	['create', { items: [{ number: '1', buyer: 'a' }] }],
])('%s fails at once, and says who can allow it', async (operation, run) => {
	const started = Date.now();
	const { error } = await harness.run(operation, run);
	expect(error).toMatchObject({ message: MESSAGE, description: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES') });
	// No retries: they would take 11 s.
	expect(Date.now() - started).toBeLessThan(8000);
	expect(await harness.requests()).toEqual([]);
});

test("the credential's test says so", async () => {
	const { status, message } = await checkCredential(harness.credential);
	expect(status).toBe('Error');
	expect(message).toContain(MESSAGE);
});
