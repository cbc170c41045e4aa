/**
 * One object per parameter: it holds the editor's entry and reads the value, for the node, the
 * triggers and the editor's lists alike. `parameterKinds` makes them.
 */
import type {
	IGetNodeParameterOptions,
	INodeProperties,
	NodeParameterValue,
	NodeParameterValueType,
} from 'n8n-workflow';

import { InputError } from '../transport/errors';
import { emptyValue, holdsExpression, wrongValue, type ParameterLabel } from './requireValue';
import { omitUndefined } from '../transport/json';

type Property<Name extends string> = INodeProperties & { name: Name };

/** A parameter of a node: its entry, and its path in the workflow. */
export interface ShownParameter {
	path: string;
	property: INodeProperties;
	/** The label of the options group that it belongs to, if any. */
	group?: string;
}

export type ShownParameters = ReadonlyMap<string, ShownParameter>;

/** n8n's function that reads a parameter. It returns the preset if the parameter is not set. */
export type ReadParameter = (
	path: string,
	index: number,
	preset: unknown,
	options?: IGetNodeParameterOptions,
) => unknown;

interface ReadOptions extends IGetNodeParameterOptions {
	/** A part of the parameter, such as the entries of a list. */
	part?: string;
}

interface StoredValue {
	/** With expressions unresolved; null if it is not set. */
	raw: unknown;
	isExpression: boolean;
}

/**
 * Reads the parameters that a node shows.
 *
 * @typeParam Name their names, or the names that a function reads. Reading another one does not
 * compile, and neither does calling a function that reads another one
 */
export class ParameterReader<in Name extends string> {
	/** By path: as stored in the workflow. */
	private readonly storedValues = new Map<string, StoredValue>();
	/** The values that are the same for all items, by parameter. */
	private readonly sharedValues = new Map<unknown, unknown>();

	/** @param zone returns the workflow's time zone */
	constructor(
		readonly shown: ShownParameters,
		private readonly get: ReadParameter,
		readonly zone: () => string,
	) {}

	/**
	 * The value of a parameter for an item, with expressions resolved. The only place that reads one.
	 * A parameter that is not set, or was cleared, has its preset. Null or undefined if an expression
	 * returned nothing, or if a required parameter was cleared.
	 */
	read(shown: ShownParameter, index: number, { part, ...options }: ReadOptions = {}): unknown {
		const { path, property } = shown;
		if (part !== undefined) return this.get(`${path}.${part}`, index, null, options);
		const value = this.get(path, index, property.default, options);
		const isSet = value !== null && value !== undefined;
		if (isSet || property.required || this.stored(shown).isExpression) return value;
		return property.default;
	}

	/** The value for an item, or the preset if the node does not show the parameter. */
	value({ name, property }: Parameter<Name, unknown>, index: number, options?: ReadOptions) {
		const shown = this.shown.get(name);
		return shown ? this.read(shown, index, options) : property.default;
	}

	/** A parameter as stored in the workflow, with expressions unresolved; null if it is not set. */
	raw({ name }: { name: Name }): unknown {
		return this.stored(this.shown.get(name)).raw;
	}

	/** True for `={{ $json.id }}`: its value may differ between items. */
	isExpression({ name }: { name: Name }): boolean {
		return this.stored(this.shown.get(name)).isExpression;
	}

	/** The value for an item; read once if no expression can make it differ between items. */
	shared<T>(parameter: Parameter<Name, T>, index: number): T {
		if (this.sharedValues.has(parameter)) return this.sharedValues.get(parameter) as T;
		const value = parameter.read(this, index);
		if (!this.isExpression(parameter)) this.sharedValues.set(parameter, value);
		return value;
	}

	/** All parameters that contain an expression. */
	expressions(): ShownParameter[] {
		return [...this.shown.values()].filter((shown) => this.stored(shown).isExpression);
	}

	private stored(shown: ShownParameter | undefined): StoredValue {
		const path = shown?.path ?? '';
		let stored = this.storedValues.get(path);
		if (!stored) {
			const raw = shown ? this.get(path, 0, null, { rawExpressions: true }) : null;
			stored = { raw, isExpression: holdsExpression(raw) };
			this.storedValues.set(path, stored);
		}
		return stored;
	}
}

/** How the editor shows a parameter, whatever its kind. */
export interface EditorLook {
	label: string;
	description?: string;
	/** Stands below it in the panel. */
	hint?: string;
	placeholder?: string;
	required?: boolean;
	/**
	 * The values of other parameters for which it is shown, or hidden. `/name` is one outside its
	 * collection.
	 */
	show?: Record<string, NodeParameterValue[]>;
	hide?: Record<string, NodeParameterValue[]>;
	/**
	 * For n8n's AI, which builds workflows. It reads all operations at once, so a hint is short and
	 * does not repeat the description.
	 */
	aiHint?: string;
}

/** What operations that share a parameter may show differently. */
type Changes<T> = Partial<Omit<EditorLook, 'label' | 'aiHint'>> & { preset?: T };

/** Converts the value that n8n returns. @param zone the time zone of dates without one */
export type Parse<T> = (value: unknown, parameter: ParameterLabel, zone: () => string) => T;

/** A list entry: the values of its parts by name. */
export type Entry<Name extends string> = Readonly<Record<Name, unknown>>;

const UTC = () => 'UTC';

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0);

export class Parameter<Name extends string, T> implements ParameterLabel {
	readonly name: Name;
	readonly label: string;

	/**
	 * @param narrows whether an expression in it must return something, because nothing would read
	 * more
	 */
	constructor(
		readonly property: Property<Name>,
		private readonly parse: Parse<T>,
		private readonly narrows = false,
	) {
		this.name = property.name;
		this.label = property.displayName;
	}

	/** The value for an item. @throws {InputError} if it is invalid */
	of(reader: ParameterReader<Name>, index: number): T {
		return reader.shared(this, index);
	}

	/** The value for an item, read again. @throws {InputError} if it is invalid */
	read(reader: ParameterReader<Name>, index: number): T {
		const value = this.parse(reader.value(this, index), this, reader.zone);
		if (!this.narrows || !isEmpty(value) || !reader.isExpression(this)) {
			return this.requireValue(value, this);
		}
		throw wrongValue(
			this,
			'is empty: its expression returned nothing',
			'Correct the expression, or remove it.',
		);
	}

	/** The value as a part of a list entry. @throws {InputError} if it is invalid */
	in(entry: Entry<Name>, list: ParameterLabel): T {
		const named = { label: this.label, within: list.label };
		const value = entry[this.name];
		const given = value === undefined ? this.property.default : value;
		return this.requireValue(this.parse(given, named, UTC), named);
	}

	private requireValue(value: T, named: ParameterLabel): T {
		if (this.property.required && isEmpty(value)) throw emptyValue(named);
		return value;
	}

	/** The same parameter as another operation shows it. */
	with({ preset, show, hide, ...look }: Changes<T>): Parameter<Name, T> {
		const changes = { default: preset as NodeParameterValueType | undefined, ...look };
		const displayOptions = { ...this.property.displayOptions, ...omitUndefined({ show, hide }) };
		const isAlways = Object.keys(displayOptions).length === 0;
		const entry = {
			...this.property,
			...omitUndefined(changes),
			...(!isAlways && { displayOptions }),
		};
		return new Parameter(entry, this.parse, this.narrows);
	}

	/** An error about this parameter. */
	error(message: string, hint: string): InputError {
		return new InputError(message, { field: this.label, hint });
	}

	/** Its label in quotes, for texts. */
	toString(): string {
		return `'${this.label}'`;
	}
}

/** The names of parameters, or of the parts of a list. */
export type NameOf<P> =
	P extends Parameter<infer Name, unknown>
		? Name
		: P extends ReadonlyArray<infer Each>
			? NameOf<Each>
			: never;
