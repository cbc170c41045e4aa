import type { Handler } from '../api/request.mts';
import * as account from './account.mts';
import * as bulk from './bulk.mts';
import * as files from './files.mts';
import * as records from './records.mts';
import * as structure from './structure.mts';
import * as summary from './summary.mts';
import * as webhooks from './webhooks.mts';

const handlers: Readonly<Record<string, Handler>> = {
	...account,
	...structure,
	...records,
	...summary,
	...bulk,
	...files,
	...webhooks,
};

/** The handler of an operation in contract/openapi.yaml: the function with the operation's name. */
export function handlerOf(operationId: string): Handler | undefined {
	return handlers[operationId];
}
