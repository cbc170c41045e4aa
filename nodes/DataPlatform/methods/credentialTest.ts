/**
 * The test of the credential: a ping, which the platform itself must answer, and a request that
 * only a token with rights may make. Checking the status alone would accept any page that responds
 * with 200, such as n8n's own.
 */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IDataObject,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { authenticate } from '../../../credentials/DataPlatformApi.credentials';
import { paths } from '../api/endpoints';
import { readApplications, readCurrentUser } from '../api/structure';
import { clientSettings } from '../run/createClient';
import { toProblem } from '../parameters/describeFailure';
import { ApiClient } from '../transport/client';
import { toErrorEntries } from '../transport/errorEntries';
import { serviceErrorOrThrow, InputError, isFromPlatform, ServiceError } from '../transport/errors';
import { isObject } from '../transport/json';
import { errorInSuccess } from '../transport/response';

const TIMEOUT_MS = 20_000;

/** A credential test gets only n8n's older request function. */
async function send(
	{ helpers }: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): Promise<IN8nHttpFullResponse> {
	return (await helpers.request({
		...(await authenticate(credential, options)),
		useStream: true,
		timeout: TIMEOUT_MS,
		followRedirect: false,
		simple: false,
		resolveWithFullResponse: true,
	})) as IN8nHttpFullResponse;
}

/** Another service's page or error comes from something else than the platform. */
const isStranger = (error: unknown) =>
	error instanceof ServiceError && error.status === 404 && !isFromPlatform(error);

const notThePlatform = () =>
	new InputError("The server at 'Base URL' responds, but it is not the platform", {
		hint: 'Another service or a proxy may be there: check the address.',
	});

/** The platform's response to a ping: a text and no errors. */
const isPong = ({ data, errors }: IDataObject) =>
	isObject(data) &&
	typeof data.message === 'string' &&
	(errors === undefined || errors === null || Array.isArray(errors));

/**
 * Detects tokens without a role, which a ping accepts, even those of public forms. Only a rejection
 * by the platform itself counts: any other failure says nothing about the token's type.
 *
 * @throws {InputError} if the token is not an API token with a role
 * @throws {ServiceError} if the token is not accepted, or a success holds something else
 */
async function checkRights(client: ApiClient, { accessType }: ICredentialDataDecryptedObject) {
	if ((accessType ?? 'role') !== 'role') return;
	// What any API token with a role may read.
	for (const read of [readCurrentUser, readApplications]) {
		const result = await read(client).catch(serviceErrorOrThrow);
		if (!(result instanceof ServiceError)) return;
		const { status = 0 } = result;
		if (status === 401 || (status >= 200 && status < 300)) throw result;
		if (status !== 403 || !isFromPlatform(result)) return;
	}
	throw new InputError(
		"The token may not read anything, but 'Token Type' is 'API Token With Role'",
		{
			hint: 'It may be a short token, or that of a workflow or a public form. Choose its type, or enter an API token whose role has the rights that your workflows need.',
		},
	);
}

async function ping(
	context: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
): Promise<void> {
	const client = new ApiClient(
		{
			send: async (options) => await send(context, credential, options),
			logger: context.logger,
		},
		{ ...clientSettings(credential), timeoutMs: TIMEOUT_MS, retryBudgetMs: 0 },
	);
	const { body, status } = await client
		.request({ method: 'GET', path: paths.ping(), retryMode: 'read' })
		.catch((error: unknown) => {
			throw isStranger(error) ? notThePlatform() : error;
		});
	const [entry] = toErrorEntries(body.errors);
	if (entry) {
		throw new ServiceError(errorInSuccess(status, entry), { delivery: 'rejected', status });
	}
	if (!isPong(body)) throw notThePlatform();
	await checkRights(client, credential);
}

/** The functions that a credential's `testedBy` may name. */
export const credentialTest = {
	/** Succeeds if the URL is the platform's, and the token works there. */
	async testDataPlatformApi(
		this: ICredentialTestFunctions,
		{ data = {} }: ICredentialsDecrypted<ICredentialDataDecryptedObject>,
	): Promise<INodeCredentialTestResult> {
		try {
			await ping(this, data);
			return { status: 'OK', message: 'Connection successful' };
		} catch (error) {
			const { message, hint } = toProblem(error);
			return {
				status: 'Error',
				message: [message.replace(/\.$/, ''), hint].filter(Boolean).join('. '),
			};
		}
	},
};
