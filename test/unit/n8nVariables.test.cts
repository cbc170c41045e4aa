/** What n8n gets of the environment in which the demo and the tests start it. */
import { neededVariables } from '../../harness/neededVariables.mts';

test('n8n gets what it needs to run, and no secrets, proxies or settings of another n8n', () => {
	const needed = { PATH: '/bin', HOME: '/home/ada', TMPDIR: '/tmp', LC_ALL: 'C', TZ: 'UTC', NODE_COMPILE_CACHE: '/cache' };
	const others = {
		NPM_TOKEN: 'a',
		AWS_SECRET_ACCESS_KEY: 'b',
		HTTP_PROXY: 'c',
		N8N_ENCRYPTION_KEY: 'd',
		NODE_OPTIONS: 'e',
		PATHOLOGY: 'f',
	};
	expect(neededVariables({ ...needed, ...others })).toEqual(needed);
});
