/**
 * One run of the node as operations see it: its parameters in plain types, its connection, and
 * the tables it works on.
 */
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import type { TableAddress, TableDefinition } from '../api/types';
import { InputError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { readTable } from '../api/tables';

/** Whether an AI agent uses the node: n8n then gives it a type of its own. */
export const isTool = ({ type }: INode): boolean => type.endsWith('Tool');

export class RunContext {
	readonly items: INodeExecutionData[];
	readonly isTool: boolean;
	private readonly definitions = new Map<string, Promise<TableDefinition>>();

	constructor(
		readonly context: IExecuteFunctions,
		readonly client: ApiClient,
	) {
		this.items = context.getInputData();
		this.isTool = isTool(context.getNode());
	}

	/** A parameter as it is; undefined where it has no value. */
	parameter(name: string, index: number): unknown {
		return this.context.getNodeParameter(name, index, null) ?? undefined;
	}

	/** The parameters of one item, to be read by name. */
	readerOf(index: number): (name: string) => unknown {
		return (name) => this.parameter(name, index);
	}

	/**
	 * A text parameter that must have a value.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError}
	 */
	text(name: string, label: string, index: number): string {
		const value = this.context.getNodeParameter(name, index, '', { extractValue: true });
		const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
		if (text === '') {
			throw new InputError(`'${label}' is empty`, {
				field: label,
				hint: 'Fill it in. An expression in it gave nothing for this item.',
			});
		}
		return text;
	}

	/**
	 * An entry of a collection, or its default.
	 *
	 * @param name such as `options.batchSize`
	 */
	option<T>(name: string, index: number, fallback: T): T {
		return this.context.getNodeParameter(name, index, fallback) as T;
	}

	/**
	 * A number that must lie within bounds.
	 *
	 * @throws {InputError} that names it by its label
	 */
	numberWithin(
		value: unknown,
		label: string,
		{ min, max = Infinity }: { min: number; max?: number },
	): number {
		if (typeof value === 'number' && value >= min && value <= max) return value;
		const bounds = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
		throw new InputError(`'${label}' must be a number ${bounds}, not ${JSON.stringify(value)}`, {
			field: label,
		});
	}

	/** Whether a parameter, or the value of a locator, may differ from item to item. */
	isExpression(name: string): boolean {
		const parameter = this.context.getNode().parameters[name];
		const value =
			typeof parameter === 'object' && parameter !== null && 'value' in parameter
				? parameter.value
				: parameter;
		return typeof value === 'string' && value.startsWith('=');
	}

	/** The application that is chosen, if one is. */
	application(index: number): string | undefined {
		const value = this.context.getNodeParameter('application', index, '', { extractValue: true });
		const text = typeof value === 'string' ? value.trim() : '';
		return text === '' ? undefined : text;
	}

	/** @throws {InputError} where no table is chosen */
	table(index: number): TableAddress {
		return { application: this.application(index), table: this.text('table', 'Table', index) };
	}

	/** A table's definition, read once in a run. */
	async definition(at: TableAddress): Promise<TableDefinition> {
		const name = JSON.stringify([at.application, at.table]);
		let definition = this.definitions.get(name);
		if (!definition) {
			definition = readTable(this.client, at);
			this.definitions.set(name, definition);
		}
		return await definition;
	}

	/** An item's own data. */
	json(index: number): IDataObject | undefined {
		return this.items[index]?.json;
	}
}
