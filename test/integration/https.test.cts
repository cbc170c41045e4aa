import { automatic, picked, runOperation } from '../support/engine/engine.cts';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

/** Over HTTPS, with a self-signed certificate. */
let sandbox: RunningSandbox;

beforeAll(async () => {
	sandbox = await startSandbox({ https: true });
});
afterAll(() => sandbox.stop());

const upsert = (ignoreSslIssues: boolean, token = sandbox.tokens.role, name = 'Fir Sample') =>
	runOperation(
		{ baseUrl: sandbox.baseUrl, token, ignoreSslIssues },
		{
			parameters: {
				resource: 'record',
				operation: 'upsert',
				application: picked('crm'),
				table: picked('companies'),
				columns: automatic,
				options: {},
			},
			items: [{ name, city: 'Bonn' }],
		},
	);

test('is rejected unless the user accepts the certificate', async () => {
	expect(sandbox.baseUrl).toMatch(/^https:/);
	const refused = await upsert(false);
	expect(refused.error?.message).toContain("The platform's certificate was not accepted");
	expect(refused.error?.description).toContain("'Ignore SSL Issues'");
	expect(await sandbox.admin.requests()).toEqual([]);
	const accepted = await upsert(true);
	expect(accepted.json()).toMatchObject([{ outcome: 'inserted' }]);
});

test('a rejected token is reported in plain words, and never shown', async () => {
	for (const name of ['expired', 'revoked'] as const) {
		const token = sandbox.tokens[name];
		const { error, run } = await upsert(true, token);
		expect(error?.message).toContain('The platform did not accept the token');
		expect(error?.description).toMatch(/[Tt]oken/);
		expect(JSON.stringify([error, run.data.resultData])).not.toContain(token);
	}
});

test('a token without the right writes nothing, and the error says so', async () => {
	const { error } = await upsert(true, sandbox.tokens.readonly, 'Gum Sample');
	expect(error?.message).toContain('The token has no right to do this');
	const names = (await sandbox.admin.records('crm', 'companies')).map(({ fields }) => fields.name);
	expect(names).not.toContain('Gum Sample');
});
