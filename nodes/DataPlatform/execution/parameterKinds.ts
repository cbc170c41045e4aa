/**
 * The kinds of parameters: each makes the editor's entry, and takes the value from what n8n gives.
 */
import type {
	INodeProperties,
	INodePropertyTypeOptions,
	NodeParameterValueType,
	NodePropertyTypes,
} from 'n8n-workflow';

import { isObject } from '../transport/json';
import { Parameter, type Entry, type Look, type ParameterReader, type Parse } from './parameter';
import {
	emptyExpression,
	emptyValue,
	requireChoice,
	requireDate,
	requireEntries,
	requireFlag,
	requireNames,
	requireNumber,
	requireText,
	type Named,
} from './parameterValues';

type Details = Partial<Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'default'>>;

/** A parameter of a kind of its own. */
export const custom = <Name extends string, T>(
	name: Name,
	type: NodePropertyTypes,
	{ label, preset, show, hide, ...more }: Look & Details & { preset: unknown },
	parse: Parse<Name, T>,
): Parameter<Name, T> =>
	new Parameter(
		{
			displayName: label,
			name,
			type,
			default: preset as NodeParameterValueType,
			...more,
			...((show || hide) && { displayOptions: { ...(show && { show }), ...(hide && { hide }) } }),
		},
		parse,
	);

interface TextLook extends Look {
	preset?: string;
	/** The list that the editor loads to choose from. */
	loads?: INodePropertyTypeOptions;
	typeOptions?: INodePropertyTypeOptions;
	/** Whether it narrows down what is read: its expression may not return nothing. */
	narrows?: boolean;
	/** Where it stands in a pasted address. */
	addresses?: readonly RegExp[];
}

/** @param addresses where the name stands in a pasted address */
export const parseText =
	<Name extends string>(
		name: Name,
		narrows = false,
		addresses?: readonly RegExp[],
	): Parse<Name, string> =>
	(value, parameter, reader) => {
		const given = requireText(value, parameter, addresses);
		if (given === '') requireNoValue(name, parameter, narrows, reader);
		return given;
	};

/** @throws {InputError} if it must have a value */
function requireNoValue<Name extends string>(
	name: Name,
	parameter: Named,
	narrows: boolean,
	reader: ParameterReader<Name> | undefined,
) {
	if (parameter.required) throw emptyValue(parameter);
	if (narrows && reader?.isExpression({ name })) throw emptyExpression(parameter);
}

/** A text, trimmed; '' if it is empty. */
export const text = <Name extends string>(
	name: Name,
	{ loads, narrows, addresses, preset = '', ...look }: TextLook,
) =>
	custom(
		name,
		loads ? 'options' : 'string',
		{ ...look, ...(loads && { typeOptions: loads }), preset },
		parseText(name, narrows, addresses),
	);

/** Names that are chosen from a list; in one text they are separated by commas. */
export const names = <Name extends string>(
	name: Name,
	{ loads, narrows = false, ...look }: TextLook,
) =>
	custom(
		name,
		'multiOptions',
		{ ...look, typeOptions: loads, preset: [] },
		(value, parameter, reader?: ParameterReader<Name>) => {
			const given = requireNames(value, parameter);
			if (given.length === 0) requireNoValue(name, parameter, narrows, reader);
			return given;
		},
	);

interface NumberLook extends Look {
	preset: number;
	min: number;
	max?: number;
	/** The least that the editor offers, if less is allowed but rarely makes sense. */
	editorMin?: number;
}

const numeric = <Name extends string>(
	name: Name,
	{ min, max, editorMin = min, ...look }: NumberLook,
	isWhole: boolean,
) => {
	const bounds = { min, max, isWhole };
	const typeOptions = {
		minValue: editorMin,
		...(max !== undefined && { maxValue: max }),
		...(isWhole && { numberPrecision: 0 }),
	};
	return custom(name, 'number', { ...look, typeOptions }, (value, parameter) =>
		requireNumber(value, parameter, bounds),
	);
};

export const number = <Name extends string>(name: Name, look: NumberLook) =>
	numeric(name, look, false);

export const wholeNumber = <Name extends string>(name: Name, look: NumberLook) =>
	numeric(name, look, true);

export const flag = <Name extends string>(name: Name, look: Look & { preset: boolean }) =>
	custom(name, 'boolean', look, requireFlag);

/** What the editor shows for each stored value: its name, and perhaps a description. */
export type Choices<T extends string> = Readonly<
	Record<T, string | readonly [name: string, description: string]>
>;

export const choice = <Name extends string, T extends string>(
	name: Name,
	{ choices, ...look }: Look & { choices: Choices<T>; preset: NoInfer<T> },
) => {
	const values = Object.keys(choices) as T[];
	const options = values.map((value) => {
		const shown: string | readonly string[] = choices[value];
		const [title = '', description] = typeof shown === 'string' ? [shown] : shown;
		return { name: title, value, ...(description !== undefined && { description }) };
	});
	return custom(name, 'options', { ...look, options }, (value, parameter) =>
		requireChoice(value, parameter, values),
	);
};

/** A time, as ms since 1970. */
export const date = <Name extends string>(name: Name, look: Look) =>
	custom(
		name,
		'dateTime',
		{ ...look, preset: '' },
		(value, parameter, reader?: ParameterReader<Name>) =>
			requireDate(value, parameter, reader?.timezone ?? 'UTC'),
	);

/** A value that is taken as it is. */
export const anyValue = <Name extends string>(
	name: Name,
	{ type = 'string', preset = '', ...look }: Look & { type?: 'string' | 'json'; preset?: string },
) => custom(name, type, { ...look, preset }, (value): unknown => value ?? undefined);

interface ListLook<Part extends string> extends Look {
	/** What the button says that adds an entry. */
	add: string;
	/** What an entry is stored under, and what the editor calls it. */
	entry: readonly [key: string, label: string];
	parts: Array<Parameter<Part, unknown>>;
	/** Whether it has one entry at most. */
	isSingle?: boolean;
	isSortable?: boolean;
}

/** Entries of several parts. */
export const list = <Name extends string, Part extends string>(
	name: Name,
	{ add, entry: [key, title], parts, isSingle = false, isSortable, ...look }: ListLook<Part>,
) => {
	const typeOptions = { multipleValues: true, ...(isSortable && { sortable: true }) };
	const values = parts.map(({ property }) => property);
	return custom(
		name,
		'fixedCollection',
		{
			...look,
			...(!isSingle && { typeOptions }),
			placeholder: add,
			preset: {},
			options: [{ displayName: title, name: key, values }],
		},
		(value, parameter, reader?: ParameterReader<Name>): Array<Entry<Part>> => {
			const isSet = value !== undefined && value !== null;
			if (!isSet) requireNoValue(name, parameter, true, reader);
			return requireEntries(isObject(value) ? value[key] : value, parameter) as Array<Entry<Part>>;
		},
	);
};
