/**
 * One run of the node as operations see it: its parameters in plain types, its connection, and
 * the tables it works on.
 */
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import type { TableAddress, TableDefinition } from '../api/types';
import { InputError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { describeKind, isObject } from '../transport/json';
import { readTable } from '../api/tables';

/** The record's ID in a pasted address. */
const RECORD_IN_URL = /\/data\/([^/?#]+)/;

/**
 * The value of a parameter, also where it holds a record locator that n8n does not resolve: the
 * Record ID of Update Many shares its name with the locator of Update, and the editor keeps what
 * was chosen when another operation is selected.
 */
function locatorValue(value: unknown): unknown {
	if (!isObject(value) || value.__rl !== true) return value;
	const isUrl = value.mode === 'url' && typeof value.value === 'string';
	return isUrl ? (RECORD_IN_URL.exec(String(value.value))?.[1] ?? '') : value.value;
}

/** @throws {InputError} where it is neither text nor a number */
function requireText(value: unknown, label: string): string {
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return value.trim();
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw new InputError(`'${label}' must be text, not ${describeKind(value)}`, {
		field: label,
		hint: 'Correct the expression in it.',
	});
}

/**
 * A number that must lie within bounds; text that holds one counts as it.
 *
 * @throws {InputError} that names it by its label
 */
export function requireNumber(
	value: unknown,
	label: string,
	{ min, max = Infinity }: { min: number; max?: number },
): number {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof number === 'number' && number >= min && number <= max) return number;
	const bounds = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
	throw new InputError(`'${label}' must be a number ${bounds}, not ${JSON.stringify(value)}`, {
		field: label,
	});
}

const holdsExpression = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.values(value).some(holdsExpression)
		: typeof value === 'string' && value.startsWith('=');

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

	/** A parameter's value, resolved for one item; undefined where it has none. */
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
		const text = this.optionalText(name, label, index);
		if (text !== '') return text;
		throw new InputError(`'${label}' is empty`, {
			field: label,
			hint: 'Fill it in. If it is an expression, it returned nothing for this item.',
		});
	}

	/**
	 * A text parameter, trimmed; empty where it has no value. A number is taken as its digits.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError} where an expression returned something else
	 */
	optionalText(name: string, label: string, index: number): string {
		const value = this.context.getNodeParameter(name, index, '', { extractValue: true }) as unknown;
		return requireText(locatorValue(value), label);
	}

	/**
	 * An entry of a collection, or its default.
	 *
	 * @param name such as `options.batchSize`
	 */
	option<T>(name: string, index: number, fallback: T): T {
		return this.context.getNodeParameter(name, index, fallback) as T;
	}

	/** As `requireNumber`. */
	numberWithin(value: unknown, label: string, bounds: { min: number; max?: number }): number {
		return requireNumber(value, label, bounds);
	}

	/** Whether a parameter, or anything in it, may differ from item to item. */
	isExpression(name: string): boolean {
		return holdsExpression(this.context.getNode().parameters[name]);
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
