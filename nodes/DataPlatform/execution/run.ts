/**
 * One run of the node as operations see it: its parameters in plain types, its API client, and
 * the tables it works on.
 */
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import { addressKey } from '../api/endpoints';
import type { RecordMetadata, TableAddress, TableDefinition } from '../api/types';
import { readLastChange, type LastChange } from '../bulk/lastChange';
import { InputError, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { readTable } from '../api/tables';
import { holdsExpression, parameterText, pickedApplication } from './locator';
import { storedPath } from './optionGroups';

/** A number; text counts as one if it is a plain decimal, such as `12` or `1.5`: no `0x2`, no `1e3`. */
export const toNumber = (value: unknown): unknown =>
	typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;

/**
 * A number that must lie within bounds.
 *
 * @param bounds with `isWhole`, it may have no fraction either
 * @throws {InputError} that names it by its label
 */
export function requireNumber(
	value: unknown,
	label: string,
	{ min, max = Infinity, isWhole = false }: { min: number; max?: number; isWhole?: boolean },
): number {
	const number = toNumber(value);
	const isInBounds = typeof number === 'number' && number >= min && number <= max;
	if (isInBounds && (!isWhole || Number.isInteger(number))) return number;
	const kind = isWhole ? 'whole number' : 'number';
	const bounds = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
	const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
	const given = value === undefined ? 'it is empty' : `not ${shown}`;
	throw new InputError(`'${label}' must be a ${kind} ${bounds}, ${given}`, {
		field: label,
		hint: `Correct '${label}', or the expression in it.`,
	});
}

/** An error of a parameter's value with the parameter's label; another as it is. */
function labelled(label: string, error: unknown): unknown {
	if (!(error instanceof InputError)) return error;
	return new InputError(`'${label}' ${error.message}`, { field: label, hint: error.hint });
}

/**
 * Reads a parameter's value; what is wrong with it gets the parameter's label.
 *
 * @param read its errors say what the value is instead, such as `is not readable`
 * @throws {InputError}
 */
export function withLabel<T>(label: string, read: () => T): T {
	let failure: unknown;
	try {
		return read();
	} catch (error) {
		failure = labelled(label, error);
	}
	throw failure;
}

/**
 * A choice from a list, which an expression may have given.
 *
 * @throws {InputError} that names it by its label, and the choices
 */
export function requireChoice<T extends string>(
	value: unknown,
	label: string,
	choices: readonly T[],
): T {
	if ((choices as readonly unknown[]).includes(value)) return value as T;
	const names = choices.map((choice) => `'${choice}'`).join(', ');
	const given = value === undefined ? 'it is empty' : `not ${JSON.stringify(value)}`;
	throw new InputError(`'${label}' must be one of ${names}, ${given}`, {
		field: label,
		hint: 'Choose it from the list, or correct the expression in it.',
	});
}

/** Whether an AI agent uses the node: n8n then gives it a type of its own. */
export const isTool = ({ type }: INode): boolean => type.endsWith('Tool');

/** A parameter, or what is inside it, such as `options.timeout`. */
export type ParameterPath<Name extends string> = Name | `${Name}.${string}`;

/** Reads parameters by name. Of a method's type, so that a reader of more names fits one of fewer. */
type ParameterReader<Name extends string> = {
	read(name: ParameterPath<Name>): unknown;
}['read'];

/** The parameters that choose a table. */
export type TableParameter = 'application' | 'table';

/**
 * @typeParam Name the parameters that the operation has, or that a helper reads: reading another does
 * not compile, nor does handing a run to a helper that reads another
 */
export class RunContext<in Name extends string> {
	readonly items: INodeExecutionData[];
	readonly isTool: boolean;
	private readonly hints = new Set<string>();
	private readonly definitions = new Map<string, Promise<TableDefinition>>();
	private readonly latestChanges = new Map<string, Promise<LastChange>>();
	private readonly written = new Map<string, RecordMetadata>();

	constructor(
		readonly context: IExecuteFunctions,
		readonly client: ApiClient,
	) {
		this.items = context.getInputData();
		this.isTool = isTool(context.getNode());
	}

	/** A parameter's value, resolved for one item; undefined where it has none. */
	parameter(name: ParameterPath<Name>, index: number): unknown {
		return this.context.getNodeParameter(this.path(name), index, null) ?? undefined;
	}

	/** A parameter as it stands in the workflow, expressions unresolved. */
	raw(name: ParameterPath<Name>): unknown {
		return this.context.getNodeParameter(this.path(name), 0, null, { rawExpressions: true });
	}

	/** Where a parameter is stored. */
	private path(name: ParameterPath<Name>): string {
		return storedPath(this.context.getNode().parameters.options, name);
	}

	/** The parameters of one item, to be read by name. */
	readerOf(index: number): ParameterReader<Name> {
		return (name) => this.parameter(name, index);
	}

	/**
	 * A text parameter that must have a value.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError}
	 */
	text(name: ParameterPath<Name>, label: string, index: number): string {
		const text = this.optionalText(name, label, index);
		if (text !== '') return text;
		throw new InputError(`'${label}' is empty`, {
			field: label,
			hint: 'Fill it in. If it is an expression, it returned nothing for this item.',
		});
	}

	/**
	 * A text parameter, trimmed; empty where it has no value. A number is taken as its digits, a
	 * locator as what is picked in it: Update Many's Record ID shares its name with the locator of
	 * Update, and the editor keeps what was chosen when another operation is selected.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError} where an expression returned something else
	 */
	optionalText(name: ParameterPath<Name>, label: string, index: number): string {
		return parameterText(this.parameter(name, index), name, label);
	}

	/**
	 * A text parameter that narrows down what is read: it may be left empty, but an expression in it
	 * may not return nothing, because more would be read than the user wants.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError}
	 */
	narrowingText(name: ParameterPath<Name>, label: string, index: number): string {
		const text = this.optionalText(name, label, index);
		if (text !== '' || !this.isExpression(name)) return text;
		throw new InputError(`'${label}' is empty: its expression returned nothing`, {
			field: label,
			hint: 'Correct the expression, or remove it.',
		});
	}

	/**
	 * A switch.
	 *
	 * @param label what the editor calls it
	 * @param preset what it is where it is not set
	 * @throws {InputError} where an expression gives neither true nor false
	 */
	flag(name: ParameterPath<Name>, label: string, index: number, preset = false): boolean {
		const value = this.parameter(name, index);
		if (typeof value === 'boolean') return value;
		if (value === undefined && !this.isExpression(name)) return preset;
		throw new InputError(`'${label}' must be true or false`, {
			field: label,
			hint: 'Correct the expression in it.',
		});
	}

	/**
	 * A choice from a list.
	 *
	 * @param label what the editor calls it
	 * @param preset what it is where it is not set
	 * @throws {InputError} where an expression gives none of the choices, or nothing
	 */
	choice<T extends string>(
		name: ParameterPath<Name>,
		label: string,
		index: number,
		choices: readonly T[],
		preset: T,
	): T {
		const value = this.parameter(name, index);
		return value === undefined && !this.isExpression(name)
			? preset
			: requireChoice(value, label, choices);
	}

	/**
	 * A list of names; none where it is not set. Names in one text are separated by commas.
	 *
	 * @param label what the editor calls it
	 * @throws {InputError} where it is no list of texts
	 */
	names(name: ParameterPath<Name>, label: string, index: number): string[] {
		const value = this.parameter(name, index) ?? [];
		const entries: unknown[] =
			typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
		return entries.map((entry) => parameterText(entry, name, label)).filter(Boolean);
	}

	/**
	 * An entry of a collection, or its default.
	 *
	 * @param name such as `options.batchSize`
	 */
	option<T>(name: ParameterPath<Name>, index: number, fallback: T): T {
		return this.context.getNodeParameter(this.path(name), index, fallback) as T;
	}

	/**
	 * Whether a parameter, or anything in it, may differ from item to item.
	 *
	 * @param name such as `table` or `options.savedView`
	 */
	isExpression(name: ParameterPath<Name>): boolean {
		return holdsExpression(this.raw(name));
	}

	/**
	 * The application that is chosen; undefined where none is.
	 *
	 * @throws {InputError} where its expression returned nothing
	 */
	application(this: RunContext<'application'>, index: number): string | undefined {
		return pickedApplication(this.parameter('application', index), this.raw('application'));
	}

	/** @throws {InputError} where no table is chosen */
	table(this: RunContext<TableParameter>, index: number): TableAddress {
		return { application: this.application(index), table: this.text('table', 'Table', index) };
	}

	/** Names the record that an item is about, among all records. @throws {InputError} */
	recordKey(this: RunContext<TableParameter | 'recordId'>, index: number): string {
		const { application, table } = this.table(index);
		return JSON.stringify([application, table, this.text('recordId', 'Record', index)]);
	}

	/** A table's definition, read once in a run. */
	async definition(at: TableAddress): Promise<TableDefinition> {
		const name = addressKey(at);
		let definition = this.definitions.get(name);
		if (!definition) {
			definition = readTable(this.client, at);
			this.definitions.set(name, definition);
		}
		return await definition;
	}

	/** Says something in the output panel, once in a run. */
	hintOnce(message: string, type: 'info' | 'warning' = 'info') {
		if (this.hints.has(message)) return;
		this.hints.add(message);
		this.context.addExecutionHints({ message, type, location: 'outputPane' });
	}

	/**
	 * The newest change in the table before this run wrote anything, read once; undefined where it
	 * can't be read.
	 */
	async latestChange(at: TableAddress): Promise<LastChange> {
		const name = addressKey(at);
		let latest = this.latestChanges.get(name);
		if (!latest) {
			latest = readLastChange(this.client, at, this.definition(at)).then((lastChange) =>
				lastChange instanceof ServiceError ? undefined : lastChange,
			);
			this.latestChanges.set(name, latest);
		}
		return await latest;
	}

	/** Notes a record that this run wrote; how it was when this run wrote it before, if it did. */
	lastWritten(at: TableAddress, { id, created, modified, ver }: RecordMetadata) {
		const name = JSON.stringify([at.application, at.table, id]);
		const earlier = this.written.get(name);
		this.written.set(name, { id, created, modified, ver });
		return earlier;
	}

	/** An item's own data. */
	json(index: number): IDataObject | undefined {
		return this.items[index]?.json;
	}
}
