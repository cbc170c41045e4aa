/**
 * The credential's test: a ping, whose response must be the platform's. A rule on the status alone would
 * take any page that responds with 200, such as n8n's own, for a platform.
 */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { authenticate } from '../../../credentials/DataPlatformApi.credentials';
import { paths } from '../api/endpoints';
import { clientSettings } from '../execution/createClient';
import { toFailure } from '../parameters/failure';
import { ApiClient } from '../transport/client';
import { InputError, isFromPlatform, ServiceError } from '../transport/errors';
import { isObject } from '../transport/json';
import { isJwt } from '../transport/tokens';

const TIMEOUT_MS = 20_000;

/** n8n gives a credential test only its older request function. */
async function send(
	{ helpers }: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): Promise<IN8nHttpFullResponse> {
	const { method, url, headers, skipSslCertificateValidation } = await authenticate(
		credential,
		options,
	);
	return (await helpers.request({
		method,
		uri: url,
		headers,
		timeout: TIMEOUT_MS,
		rejectUnauthorized: !skipSslCertificateValidation,
		followRedirect: false,
		simple: false,
		resolveWithFullResponse: true,
	})) as IN8nHttpFullResponse;
}

/** @throws {InputError} where the token is certainly not of the chosen type */
function checkType({ accessType, token }: ICredentialDataDecryptedObject) {
	const isChosen = (accessType ?? 'role') === 'jwt';
	if (isJwt(String(token).trim()) === isChosen) return;
	throw new InputError(
		isChosen
			? "The token is no JWT, but 'Token Type' is 'Standard JWT Token'"
			: "The token is a JWT, but 'Token Type' says otherwise",
		{ hint: "Choose the token's type, so that errors can say which rights it has." },
	);
}

/** What responds with another service's page or error is not the platform. */
const isStranger = (error: unknown) =>
	error instanceof ServiceError && error.status === 404 && !isFromPlatform(error);

const notThePlatform = () =>
	new InputError("The address under 'Base URL' responds, but not as the platform", {
		hint: 'Another service or a proxy may be there: check the address.',
	});

async function ping(
	context: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
): Promise<void> {
	const client = new ApiClient(
		{
			send: async (options) => await send(context, credential, options),
			sendWithoutToken: async (options) => await send(context, credential, options),
			logger: context.logger,
		},
		{ ...clientSettings(credential), timeoutMs: TIMEOUT_MS, retryBudgetMs: 0 },
	);
	const { body } = await client
		.request({ method: 'GET', path: paths.ping(), retryMode: 'read' })
		.catch((error: unknown) => {
			throw isStranger(error) ? notThePlatform() : error;
		});
	if (!isObject(body.data)) throw notThePlatform();
	checkType(credential);
}

/** n8n's `credentialTest`: whether the address is the platform's and the token works there. */
async function testCredential(
	context: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted<ICredentialDataDecryptedObject>,
): Promise<INodeCredentialTestResult> {
	try {
		await ping(context, data);
		return { status: 'OK', message: 'Connection successful' };
	} catch (error) {
		const { message, hint } = toFailure(error);
		return {
			status: 'Error',
			message: [message.replace(/\.$/, ''), hint].filter(Boolean).join('. '),
		};
	}
}

/** The functions that a credential's `testedBy` may name. */
export const credentialTest = {
	async testDataPlatformApi(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted<ICredentialDataDecryptedObject>,
	): Promise<INodeCredentialTestResult> {
		return await testCredential(this, credential);
	},
};
