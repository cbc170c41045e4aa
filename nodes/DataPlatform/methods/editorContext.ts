/**
 * What every list in the editor needs: an API client, the chosen table, and errors that say why the
 * list can't be loaded. A list is never silently empty.
 */
import { NodeApiError, type ILoadOptionsFunctions, type JsonObject } from 'n8n-workflow';

import { createClient } from '../run/createClient';
import { ParameterReader } from '../parameterKinds/parameter';
import { toProblem } from '../parameters/describeFailure';
import type { Problem } from '../transport/errors';
import { shownParameters } from '../parameters/defineOperation';
import {
	chosenApplication,
	table,
	tableParameters,
	type TableParameter,
} from '../parameters/select/table';
import { tableAt, type Table } from '../api/table';
import type { TableDefinition } from '../api/types';
import type { ApiClient } from '../transport/client';
import { escapedHtml } from '../transport/messageText';

const { shown } = shownParameters(tableParameters);

/** In seconds. Nothing is retried: a user would wait, and can do that. */
const REQUEST_LIMITS = { timeout: 10, maxRetryWait: 0 };

const optionalTable = table.with({ required: false });

export class Editor {
	/** The parameters in the panel, whose expressions are resolved as far as possible. */
	private readonly panel: ParameterReader<TableParameter>;

	constructor(
		readonly client: ApiClient,
		private readonly context: ILoadOptionsFunctions,
	) {
		this.panel = new ParameterReader(
			shown,
			(path, _, preset) => context.getCurrentNodeParameter(path) ?? preset,
			() => context.getTimezone(),
		);
	}

	/** The chosen application; undefined if there is none. @throws {InputError} */
	get application(): string | undefined {
		return chosenApplication(this.panel, 0);
	}

	/** The chosen table's definition; undefined if none is chosen yet. @throws {ServiceError} */
	async table(): Promise<TableDefinition | undefined> {
		const { handle } = this;
		return handle.at.table === '' ? undefined : await handle.definition();
	}

	/** The chosen table, whose name is '' if none is chosen yet. @throws {InputError} */
	get handle(): Table {
		const { application, client, panel } = this;
		return tableAt(client, { application, table: optionalTable.of(panel, 0) });
	}

	/** The field chosen in the same entry of a collection. */
	get fieldBeside(): unknown {
		return this.context.getCurrentNodeParameter('&field');
	}
}

/**
 * A list of the editor. Its errors reach the editor in words for the user.
 *
 *     const getTables = editorList(async ({ client }) => await readTables(client, 'crm'));
 *
 * @param load gets the panel, and n8n's arguments, such as the text of a search
 */
export const editorList = <Result, Args extends unknown[]>(
	load: (editor: Editor, ...args: Args) => Promise<Result>,
) =>
	async function list(this: ILoadOptionsFunctions, ...args: Args): Promise<Result> {
		try {
			const client = await createClient(this, REQUEST_LIMITS);
			return await load(new Editor(client, this), ...args);
		} catch (error) {
			const failure = toProblem(error);
			const { message } = failure;
			const hint = editorHint(failure);
			throw new NodeApiError(this.getNode(), { message } as JsonObject, {
				message,
				description: hint && escapedHtml(hint),
			});
		}
	};

/** The hint for somebody who has a list in front of them, not a run. */
function editorHint({ status, hint, retryAfterMs }: Problem): string | undefined {
	if (status !== 429) return hint?.replace('run it again', 'load the list again');
	const when = retryAfterMs ? `${Math.ceil(retryAfterMs / 1000)} s` : 'a minute';
	return `Load the list again in ${when}.`;
}
