/** The node in n8n's engine, with the parameters that the measurements have in common. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { automatic, picked, runOperation } from '../../test/property/faults/engine.mts';
import { APP, TABLE } from '../benchTable.mts';

export interface Target {
	baseUrl: string;
	token: string;
}

/** The table of the measurements, as parameters name it. */
export const tableParameters: INodeParameters = { application: picked(APP), table: picked(TABLE) };

const onTable = (operation: string, rest: INodeParameters): INodeParameters => ({
	resource: 'record',
	operation,
	...tableParameters,
	...rest,
});

/** Input items as n8n hands them on. */
export const toInput = (items: IDataObject[]): INodeExecutionData[] =>
	items.map((json, item) => ({ json, pairedItem: { item } }));

/** Runs an operation on all items. @throws Error where the node failed */
export async function runNode(
	{ baseUrl, token }: Target,
	parameters: INodeParameters,
	input: INodeExecutionData[] = [{ json: {} }],
) {
	const result = await runOperation({ baseUrl, token }, { parameters, input });
	if (result.error) throw new Error(result.error.message);
	return { items: result.output('Data Platform'), hints: result.hints };
}

/** Create or Update Many. */
export const upsertParameters = (options: INodeParameters = {}) =>
	onTable('upsertMany', { columns: automatic as unknown as INodeParameters, options });

/** Get Many, all of them. */
export const getManyParameters = onTable('getAll', { returnAll: true, options: {} });
