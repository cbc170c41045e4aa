/**
 * Token types, what to do if the type does not fit, and how tokens are redacted.
 */
import { parseJson } from './json';

/** What a token is used for. */
export type TokenPurpose = 'data' | 'attachments' | 'workflows';

/** What each purpose is called, and the types of tokens that have the right to it. */
const PURPOSES: Record<TokenPurpose, { text: string; types: string[] }> = {
	data: { text: 'Reading and writing data', types: ['role', 'jwt'] },
	attachments: {
		text: 'Uploading and changing attachments',
		types: ['role', 'jwt', 'short'],
	},
	workflows: { text: 'Starting workflows', types: ['role', 'workflow', 'jwt'] },
};

/** As the credential calls them. */
const TOKEN_TYPES: Record<string, string> = {
	role: 'API Token With Role',
	jwt: 'Standard JWT Token',
	short: 'Short API Token',
	workflow: 'Workflow Execution Token',
};

const CHECK_TOKEN =
	"Check 'Token' in the credential for slips and its 'valid to' in the platform, or create a new token there.";

/** The platform's documentation names both. */
const OTHER_WEBHOOK_TOKEN =
	'A webhook requires a workflow execution token or a personal API token: try the other one.';

const IF_PLAN = "If the account's plan is the reason, only another plan helps.";

/** A shorter one could be part of ordinary text. */
const MIN_TOKEN_LENGTH = 8;

/**
 * A pattern for a sign as it is, in JSON (`\/`, `\u002B`, also in JSON inside JSON), in a URL (`%2b`,
 * `%252B`) and in HTML (`&#43;`, `&#x2B;`). No encoder escapes letters and digits.
 */
function anyForm(sign: string): string {
	const code = sign.charCodeAt(0);
	const hex = code.toString(16);
	const anyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
	return `\\\\{0,7}(?:\\x${hex}|u00${anyCase}|%(?:25)*${anyCase}|&#(?:0*${code}|[xX]0*${anyCase});)`;
}

/**
 * Redacts the token in what came back: a gateway or a webhook may echo it, and it must not get into
 * items, errors or logs.
 */
export function tokenRedactor(token: string): (text: string) => string {
	if (token.length < MIN_TOKEN_LENGTH) return (text) => text;
	const pattern = new RegExp(token.replace(/[^a-z\d]/gi, anyForm), 'g');
	return (text) => text.replace(pattern, '[token]');
}

/** The address of a file without the short token that the platform may put into its query. */
export const withoutFileToken = (address: string) =>
	address.replace(/(?<=[?&])token=[^&#]*&?/gi, '').replace(/[?&](?=#|$)/, '');

/** In a response: a gateway may escape any sign of it. */
const FILE_ADDRESS = /("(?:fileUrl|thumbnailUrl)"\s*:\s*)("(?:[^"\\]|\\.)*")/g;

/** The same for all files in a response's JSON. Other addresses in it are the user's. */
export const withoutFileTokens = (json: string) =>
	json.replace(FILE_ADDRESS, (member, name: string, value: string) => {
		const address = parseJson(value);
		if (typeof address !== 'string') return member;
		return `${name}${JSON.stringify(withoutFileToken(address))}`;
	});

/**
 * What to do about a 401 or 403; undefined for other responses.
 *
 * @param type the type chosen in the credential
 */
export function tokenHint(
	status: number | undefined,
	type: string,
	purpose: TokenPurpose,
): string | undefined {
	if (status === 401) {
		return purpose === 'workflows' ? `${CHECK_TOKEN} ${OTHER_WEBHOOK_TOKEN}` : CHECK_TOKEN;
	}
	if (status !== 403) return undefined;
	const { text, types } = PURPOSES[purpose];
	if (!types.includes(type)) {
		const fitting = types.map((name) => `'${TOKEN_TYPES[name]}'`).join(' or ');
		return `${text} requires a token of type ${fitting}; the credential has a '${TOKEN_TYPES[type] ?? type}'.`;
	}
	if (purpose === 'workflows') return OTHER_WEBHOOK_TOKEN;
	if (type !== 'role') return `Ask for a token that has this right. ${IF_PLAN}`;
	return `If the token's role lacks a right, add it in the platform, or use another token. ${IF_PLAN}`;
}
