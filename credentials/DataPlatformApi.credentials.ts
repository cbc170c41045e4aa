import type {
	IAuthenticate,
	ICredentialDataDecryptedObject,
	ICredentialType,
	Icon,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import {
	allowedOrigins,
	baseOrigin,
	originNotAllowed,
	safeUrl,
} from '../nodes/DataPlatform/transport/allowedOrigins';
import { InputError } from '../nodes/DataPlatform/transport/errors';

/** Headers that only this file sets: with another host, a gateway might pass the token on to it. */
const OWN_HEADERS = new Set(['authorization', 'host']);

/**
 * Adds the token if the request goes to an allowed origin. Whoever may use the credential in n8n's
 * HTTP Request node chooses that node's options, and must not be able to read the token by them: so
 * the proxy and the check of certificates are set here.
 */
export async function authenticate(
	credentials: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
	// n8n's HTTP Request node still uses `uri`.
	const { url: given = (options as { uri?: string }).uri ?? '', baseURL, agentOptions } = options;
	const url = safeUrl(baseURL ? new URL(given, baseURL).href : given, 'The URL');
	// As its own proxy (below), a server would take what follows for its name.
	if (url.protocol === 'http:') url.pathname = url.pathname.replace(/^\/+/, '/');
	const origins = allowedOrigins(
		String(credentials.baseUrl),
		String(credentials.webhookOrigins ?? ''),
	);
	if (!origins.has(url.origin)) {
		throw originNotAllowed(`The token is not sent to ${url.origin}`, url.origin);
	}
	const token = String(credentials.token).trim();
	// n8n would drop such characters and send the rest.
	if (!/^[\x21-\x7e]+$/.test(token)) {
		throw new InputError(
			token === ''
				? 'The token in the credential is empty. Nothing was sent'
				: 'The token in the credential holds a space, a line break or another character that no token has. Nothing was sent',
			{ hint: "Enter only the token, as the platform shows it: on one line, without 'Bearer'." },
		);
	}
	const others = Object.entries(options.headers ?? {}).filter(
		([name]) => !OWN_HEADERS.has(name.toLowerCase()),
	);
	const skipSslCertificateValidation =
		credentials.ignoreSslIssues === true && url.origin === baseOrigin(String(credentials.baseUrl));
	const checked = {
		url: url.href,
		uri: undefined,
		baseURL: undefined,
		skipSslCertificateValidation,
		// For n8n's older request function.
		rejectUnauthorized: !skipSslCertificateValidation,
		agentOptions: agentOptions && {
			cert: agentOptions.cert,
			key: agentOptions.key,
			passphrase: agentOptions.passphrase,
		},
		proxy: url.protocol === 'http:' ? directly(url) : undefined,
	};
	return {
		...options,
		...checked,
		// Lower case: early releases of n8n 1.123 ignore the setting below, and add `Authorization`
		// again after a redirect to another host has removed it.
		headers: {
			...Object.fromEntries(others),
			authorization: `Bearer ${token}`,
		},
		sendCredentialsOnCrossOriginRedirect: false,
	};
}

/**
 * A host as its own proxy. Otherwise n8n would use one that its environment names, and a request
 * without HTTPS would leave this machine in plain text.
 */
const directly = ({ hostname, port }: URL) => ({
	protocol: 'http',
	host: hostname,
	port: Number(port || 80),
});

/** Settings that most credentials don't need. n8n drops those that are not shown. */
const WITH_MORE_SETTINGS = { show: { moreSettings: [true] } };

export class DataPlatformApi implements ICredentialType {
	name = 'dataPlatformApi';

	displayName = 'Data Platform API';

	icon: Icon = { light: 'file:../icons/platform.svg', dark: 'file:../icons/platform.dark.svg' };

	documentationUrl =
		'https://github.com/n8n-nodes-data-platform/n8n-nodes-data-platform#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://platform.example.com',
			description: "The platform's address, without /api/v2",
		},
		{
			displayName: 'Token Type',
			// Not `tokenType`: n8n's lint treats every field with `token` in its name as a secret.
			name: 'accessType',
			type: 'options',
			options: [
				{
					name: 'API Token With Role',
					value: 'role',
					description: 'For integrations; has only the rights of its role',
				},
				{
					name: 'Standard JWT Token',
					value: 'jwt',
					description: 'For administration; has all rights of the person who created it',
				},
				{
					name: 'Short API Token',
					value: 'short',
					description: 'For uploading attachments and images',
				},
				{
					name: 'Workflow Execution Token',
					value: 'workflow',
					description: "For starting the platform's workflows",
				},
			],
			default: 'role',
		},
		{
			displayName: 'Token',
			name: 'token',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			hint: 'Created in the platform: an API token with an assigned role, which has the rights that your workflows need',
		},
		{
			displayName: 'More Settings',
			name: 'moreSettings',
			type: 'boolean',
			default: false,
			description:
				'Whether to use the settings for webhooks, the rate limit and certificates. They only apply while this is on.',
		},
		{
			displayName: 'Webhook Origins',
			name: 'webhookOrigins',
			type: 'string',
			default: '',
			displayOptions: WITH_MORE_SETTINGS,
			placeholder: 'e.g. https://hooks.example.com',
			description:
				'Other addresses that may receive the token, such as the one in the webhook URLs of workflows. Separate several with commas. The base URL needs no entry.',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			displayOptions: WITH_MORE_SETTINGS,
			description:
				'Only for the Data Platform Webhook Trigger: a long random text that you make up. The platform must send it in the Authorization header, after "Bearer ". Never use the token here.',
		},
		{
			displayName: 'Requests per Minute',
			name: 'requestsPerMinute',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			displayOptions: WITH_MORE_SETTINGS,
			description:
				'Max number of requests per minute, of all executions in a process of n8n together. With 0 they are sent as fast as possible, and wait when the platform asks for it.',
		},
		{
			displayName: 'Ignore SSL Issues',
			name: 'ignoreSslIssues',
			type: 'boolean',
			default: false,
			displayOptions: WITH_MORE_SETTINGS,
			description: 'Whether to connect to the base URL even if its certificate cannot be verified',
		},
	];

	authenticate: IAuthenticate = authenticate;
}
