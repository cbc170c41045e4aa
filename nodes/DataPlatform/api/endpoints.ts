/** Every path of the service: contract/openapi.yaml. */
import { encodePathSegment } from '../transport/urlEncoding';
import type { TableAddress } from './types';

const API = '/api/v2';

const tablePath = ({ application, table }: TableAddress) =>
	application
		? `${API}/apps/${encodePathSegment(application)}/tables/${encodePathSegment(table)}`
		: `${API}/${encodePathSegment(table)}`;

/** Names a table among others: what is known of it in a run is kept under this. */
export const addressKey = ({ application, table }: TableAddress): string =>
	JSON.stringify([application, table]);

/** The paths below the base URL; each segment is percent-encoded. */
export const paths = {
	ping: () => `${API}/ping`,
	currentUser: () => `${API}/users/me`,
	applications: () => `${API}/apps`,
	application: (application: string) => `${API}/apps/${encodePathSegment(application)}`,
	tables: (application: string) => `${API}/apps/${encodePathSegment(application)}/tables`,
	table: (application: string, table: string) => tablePath({ application, table }),
	records: (at: TableAddress) => `${tablePath(at)}/data`,
	record: (at: TableAddress, id: string) => `${tablePath(at)}/data/${encodePathSegment(id)}`,
	filter: (at: TableAddress) => `${tablePath(at)}/data/filter`,
	count: (at: TableAddress) => `${tablePath(at)}/data/count`,
	countFilter: (at: TableAddress) => `${tablePath(at)}/data/count/filter`,
	summary: (at: TableAddress) => `${tablePath(at)}/data/summary`,
	bulk: (at: TableAddress) => `${tablePath(at)}/data/bulk`,
	file: (at: TableAddress, id: string) => `${tablePath(at)}/files/${encodePathSegment(id)}`,
	thumbnail: (at: TableAddress, id: string) =>
		`${tablePath(at)}/files/${encodePathSegment(id)}/thumbnail`,
};

/** The largest page of records that may be asked for. */
export const MAX_PAGE_SIZE = 1000;
