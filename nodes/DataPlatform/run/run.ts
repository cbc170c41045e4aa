/**
 * One run of the node as operations see it: its parameters, its API client, and what it has already
 * looked up.
 */
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import type { ApiClient } from '../transport/client';
import { escapedHtml } from '../transport/messageText';
import { ProgressLog } from './progressLog';
import { parametersOfItems } from '../parameterKinds/itemParameters';
import {
	ParameterReader,
	type ReadParameter,
	type ShownParameters,
} from '../parameterKinds/parameter';

/** True if an AI agent uses the node: n8n then gives it another type. */
export const isTool = ({ type }: INode): boolean => type.endsWith('Tool');

/** A tool's expressions use what the agent passes, which is not in its items. */
function readOf(context: IExecuteFunctions): ReadParameter {
	if (!isTool(context.getNode())) return parametersOfItems(context);
	return (path, index, preset, options) => context.getNodeParameter(path, index, preset, options);
}

/** Reads parameters before there is a run. */
export const readerOf = (context: IExecuteFunctions, shown: ShownParameters) =>
	new ParameterReader<string>(shown, readOf(context), () => context.getTimezone());

/** @typeParam Name the parameters that the operation shows, or that a function reads */
export class RunContext<in Name extends string> extends ParameterReader<Name> {
	readonly items: INodeExecutionData[];
	readonly isTool: boolean;
	readonly progress: ProgressLog;
	private readonly made = new Map<string, unknown>();

	constructor(
		readonly context: IExecuteFunctions,
		readonly client: ApiClient,
		shown: ShownParameters,
	) {
		super(shown, readOf(context), () => context.getTimezone());
		this.items = context.getInputData();
		this.progress = new ProgressLog(context);
		this.isTool = isTool(context.getNode());
	}

	/** Makes something once and keeps it for the rest of the run. @param key identifies it */
	once<T>(key: string, make: () => T): T {
		if (!this.made.has(key)) this.made.set(key, make());
		return this.made.get(key) as T;
	}

	/** Shows a hint in the output panel. */
	hint(text: string, type: 'info' | 'warning' = 'info') {
		const message = escapedHtml(text);
		this.context.addExecutionHints({ message, type, location: 'outputPane' });
	}

	/** Shows a hint once per run. */
	hintOnce(text: string, type: 'info' | 'warning' = 'info') {
		this.once(`hint ${text}`, () => this.hint(text, type));
	}

	/** An item's own data. */
	json(index: number): IDataObject | undefined {
		return this.items[index]?.json;
	}
}
