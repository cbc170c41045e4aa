/** Every path of the service: contract/openapi.yaml. */
import { InputError } from '../transport/errors';
import { encodePathSegment } from '../transport/urlEncoding';
import { idKey } from './idSet';
import type { TableAddress } from './types';

const API = '/api/v2';

function tablePath({ application, table }: TableAddress): string {
	if (!application) return `${API}/${encodePathSegment(table)}`;
	return `${API}/apps/${encodePathSegment(application)}/tables/${encodePathSegment(table)}`;
}

/**
 * Other paths have these words in place of a record's ID. A server may decode an encoded slash, and
 * ignore case.
 */
const OTHER_ROUTE = /^\s*(bulk|count|filter|summary)\s*($|[/\\?#;])/i;

/** @throws {InputError} if the path would not address a single record */
function recordSegment(id: string): string {
	if (!OTHER_ROUTE.test(id)) return encodePathSegment(idKey(id));
	throw new InputError(`'${id}' can't be the ID of a record`, {
		hint: 'Enter the ID of a record.',
	});
}

/** Why a text can't be the ID of a record; undefined if it can. */
export function recordIdProblem(id: string): string | undefined {
	try {
		recordSegment(id);
		return undefined;
	} catch (error) {
		return (error as InputError).message;
	}
}

/** The key under which a run keeps what it knows about a table. */
export const addressKey = ({ application, table }: TableAddress): string =>
	JSON.stringify([application, table]);

/** The parts of a path that addresses a table without an application; undefined for any other. */
export function shortTableIn(path = '') {
	const [, shortPath, name, rest] = SHORT_ADDRESS.exec(path) ?? [];
	if (shortPath === undefined) return undefined;
	return { shortPath, name: decodeURIComponent(name!), rest: rest! };
}

const SHORT_ADDRESS = new RegExp(`^(${API}/(?!apps/)([^/]+))(/(?:data|files)(?:/.*)?)$`);

/** The paths below the base URL; each segment is percent-encoded. */
export const paths = {
	ping: () => `${API}/ping`,
	currentUser: () => `${API}/users/me`,
	applications: () => `${API}/apps`,
	application: (application: string) => `${API}/apps/${encodePathSegment(application)}`,
	tables: (application: string) => `${API}/apps/${encodePathSegment(application)}/tables`,
	table: (application: string, table: string) => tablePath({ application, table }),
	records: (address: TableAddress) => `${tablePath(address)}/data`,
	record: (address: TableAddress, id: string) => `${tablePath(address)}/data/${recordSegment(id)}`,
	filter: (address: TableAddress) => `${tablePath(address)}/data/filter`,
	count: (address: TableAddress) => `${tablePath(address)}/data/count`,
	countFilter: (address: TableAddress) => `${tablePath(address)}/data/count/filter`,
	summary: (address: TableAddress) => `${tablePath(address)}/data/summary`,
	bulk: (address: TableAddress) => `${tablePath(address)}/data/bulk`,
	file: (address: TableAddress, id: string) =>
		`${tablePath(address)}/files/${encodePathSegment(id)}`,
	thumbnail: (address: TableAddress, id: string) =>
		`${tablePath(address)}/files/${encodePathSegment(id)}/thumbnail`,
};

/** The largest page of records that a request may ask for. */
export const MAX_PAGE_SIZE = 1000;
