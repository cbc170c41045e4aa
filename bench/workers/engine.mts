/** The Data Platform node in n8n's engine, with the parameters that benchmarks share. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import {
	automatic,
	defined,
	picked,
	runOperation,
} from '../../test/support/engine/outsideJest.mts';
import { APP, COLUMNS, TABLE } from '../benchTable.mts';

/** The address of the platform, and a token for it. */
export interface Target {
	baseUrl: string;
	token: string;
}

/** An operation on the benchmarks' table. */
export const recordOperation = (
	operation: string,
	parameters: INodeParameters = {},
): INodeParameters => ({
	resource: 'record',
	operation,
	application: picked(APP),
	table: picked(TABLE),
	options: {},
	...parameters,
});

/** Input items in the form that n8n passes on. */
export const toInput = (items: IDataObject[]): INodeExecutionData[] =>
	items.map((json, item) => ({ json, pairedItem: { item } }));

/** Runs an operation on all items, with Continue On Fail. @throws Error if the node failed as a whole */
export async function runNode(
	{ baseUrl, token }: Target,
	parameters: INodeParameters,
	input: INodeExecutionData[] = [{ json: {} }],
) {
	const result = await runOperation(
		{ baseUrl, token },
		{ parameters, input, onError: 'continueRegularOutput' },
	);
	if (result.error) throw new Error(result.error.message);
	return { items: result.output('Data Platform'), hints: result.hints };
}

/** Create or Update. */
export const upsertParameters = (options: INodeParameters = {}) =>
	recordOperation('upsert', { columns: automatic as unknown as INodeParameters, options });

/** Create or Update of fields mapped by hand, each by a reference to the item's data. */
export const upsertMappedParameters = () => {
	const references = COLUMNS.map((name) => [name, `={{ $json.${name} }}`]);
	const columns = defined(Object.fromEntries(references) as IDataObject);
	return recordOperation('upsert', { columns: columns as unknown as INodeParameters });
};

/** Sync that deletes what is missing from the input. */
export const syncParameters = (maximum: number) =>
	recordOperation('sync', {
		columns: automatic as unknown as INodeParameters,
		missingRecords: 'delete',
		maxRecordsToRemove: maximum,
	});

/** Get Many with Return All. */
export const getManyParameters = recordOperation('getAll', { returnAll: true });
