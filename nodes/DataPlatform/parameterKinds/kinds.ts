/**
 * The kinds of parameters. Each makes the editor's entry and converts the value that n8n returns.
 */
import {
	tryToParseDateTime,
	type INodeProperties,
	type INodePropertyTypeOptions,
	type NodeParameterValueType,
	type NodePropertyTypes,
} from 'n8n-workflow';

import { missingDay } from '../fields/remedies';
import { EXPRESSION_OF_DATE } from '../labels';
import { isObject, omitUndefined } from '../transport/json';
import { Parameter, type Entry, type EditorLook, type Parse } from './parameter';
import {
	notAllowed,
	requireNumber,
	requireText,
	wrongValue,
	type ParameterLabel,
} from './requireValue';

type Details = Partial<Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'default'>>;

interface CustomLook extends EditorLook, Details {
	preset: unknown;
	/** It restricts what is read, so that its expression must return something. */
	narrows?: boolean;
}

/** A parameter with its own conversion. */
export const custom = <Name extends string, T>(
	name: Name,
	type: NodePropertyTypes,
	{ label, preset, show, hide, narrows, aiHint, ...more }: CustomLook,
	parse: Parse<T>,
): Parameter<Name, T> => {
	const displayOptions = show || hide ? omitUndefined({ show, hide }) : undefined;
	const builderHint = aiHint === undefined ? undefined : { propertyHint: aiHint };
	const entry = { displayName: label, name, type, default: preset as NodeParameterValueType };
	const look = omitUndefined({ ...more, displayOptions, builderHint });
	return new Parameter({ ...entry, ...look }, parse, narrows);
};

interface TextLook extends Omit<CustomLook, 'preset'> {
	preset?: string;
	/** The list that the editor loads its choices from. */
	loads?: INodePropertyTypeOptions;
	/** Find its value in a pasted URL. */
	addresses?: readonly RegExp[];
}

/** A text, trimmed; '' if it is empty. */
export const text = <Name extends string>(
	name: Name,
	{ loads, addresses, preset = '', ...look }: TextLook,
) =>
	custom(
		name,
		loads ? 'options' : 'string',
		{ typeOptions: loads, ...look, preset },
		(value, parameter) => requireText(value, parameter, addresses),
	);

/** Names chosen from a list; if given as text, commas separate them. */
export const names = <Name extends string>(name: Name, { loads, ...look }: TextLook) =>
	custom(
		name,
		'multiOptions',
		{ ...look, typeOptions: loads, preset: [] },
		(value, parameter): string[] => {
			const entries: unknown[] = typeof value === 'string' ? value.split(',') : [value].flat();
			return entries.map((entry) => requireText(entry, parameter)).filter(Boolean);
		},
	);

interface NumberLook extends EditorLook {
	preset: number;
	min: number;
	max?: number;
	/** The minimum that the editor offers, if lower values are allowed but rarely make sense. */
	editorMin?: number;
}

const numeric =
	(isWhole: boolean) =>
	<Name extends string>(name: Name, { min, max, editorMin = min, ...look }: NumberLook) => {
		const numberPrecision = isWhole ? 0 : undefined;
		const typeOptions = omitUndefined({ minValue: editorMin, maxValue: max, numberPrecision });
		return custom(name, 'number', { ...look, typeOptions }, (value, parameter) =>
			requireNumber(value, parameter, { min, max, isWhole }),
		);
	};

export const number = numeric(false);

export const wholeNumber = numeric(true);

export const flag = <Name extends string>(name: Name, look: EditorLook & { preset: boolean }) =>
	custom(name, 'boolean', look, (value, parameter): boolean => {
		if (typeof value === 'boolean') return value;
		throw notAllowed(value, parameter, 'true or false');
	});

/** What the editor shows for each stored value: its name and, optionally, a description. */
export type Choices<T extends string> = Readonly<
	Record<T, string | readonly [name: string, description: string]>
>;

export const choice = <Name extends string, T extends string>(
	name: Name,
	{ choices, ...look }: EditorLook & { choices: Choices<T>; preset: NoInfer<T> },
) => {
	const entries = Object.entries<string | readonly string[]>(choices);
	const options = entries.map(([value, shown]) => {
		const [title = '', description] = [shown].flat();
		return { name: title, value, ...omitUndefined({ description }) };
	});
	const allowed = `one of ${entries.map(([value]) => `'${value}'`).join(', ')}`;
	return custom(name, 'options', { ...look, options }, (value, parameter): T => {
		if (typeof value === 'string' && Object.hasOwn(choices, value)) return value as T;
		const hint = 'Choose it from the list, or correct the expression in it.';
		throw notAllowed(value, parameter, allowed, hint);
	});
};

/** A date in ISO 8601, with or without a time and a zone. A space may stand for the T. */
const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:$|[T ](\d\d):?(\d\d))/i;

/** Zones that n8n misreads: it ignores an offset before a name, and takes one of 15 hours or more. */
const MISREAD_ZONE = /^[\d-]+[T ].*(?:Z\[|[+-](?:[\d:]+\[|1[5-9]|[2-9]\d))/i;

/**
 * The time that a text means. n8n also reads other texts, and turns February 30 into March 2.
 *
 * @throws {Error} if it is not a date in ISO 8601
 */
function toMillis(value: unknown, zone: string): number {
	const time = tryToParseDateTime(value as string, zone);
	if (typeof value === 'object' && !Array.isArray(value)) return time.toMillis();
	const text = String(value).trim();
	const [, day, hour = time.hour, minute = time.minute] = ISO_DATE.exec(text) ?? [];
	if (time.toISODate() !== day || MISREAD_ZONE.test(text)) throw new Error('Not in ISO 8601');
	// If the clock skips or repeats the time, the earlier reading loses no change.
	const skipped = (time.hour - Number(hour)) * 60 + time.minute - Number(minute);
	return time.getPossibleOffsets()[0]!.minus({ minutes: skipped }).toMillis();
}

/** In whole seconds. */
const inUtc = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** A zone at the end of a time: it is an instant, whatever the workflow's zone is. */
const HAS_ZONE = /\d(?:Z|[+-]\d\d:?\d\d)$|\[.+\]$/i;

function inFuture(parameter: ParameterLabel, value: unknown, time: number, zone: string) {
	const now = Date.now();
	const there = tryToParseDateTime(inUtc(time)).setZone(zone);
	const isInstant = typeof value === 'object' || HAS_ZONE.test(String(value).trim());
	const earlier = isInstant ? now : Math.min(time + there.offset * 60_000, now);
	return wrongValue(
		parameter,
		`is in the future: ${there.toFormat('yyyy-MM-dd HH:mm')} in ${zone} is ${inUtc(time)}, and it is ${inUtc(now)} now`,
		`What changes until then would be lost. A date without a zone is in the workflow's, ${zone}. Choose an earlier date, or write one in UTC as an expression: {{ '${inUtc(earlier)}' }}.`,
	);
}

/** When changes that are emitted begin, in ms since 1970: not in the future. */
export const startTime = <Name extends string>(name: Name, look: EditorLook) =>
	custom(name, 'dateTime', { ...look, preset: '' }, (value, parameter, zone): number => {
		let time: number;
		try {
			time = toMillis(value, zone());
		} catch {
			const wanted = missingDay(String(value).trim()) ? 'a day that exists' : 'a date';
			const hint = `Choose a date, or write it as an expression such as ${EXPRESSION_OF_DATE}.`;
			throw notAllowed(value, parameter, wanted, hint);
		}
		if (time > Date.now()) throw inFuture(parameter, value, time, zone());
		return time;
	});

/** A value that is used as it is. */
export const anyValue = <Name extends string>(
	name: Name,
	{
		type = 'string',
		preset = '',
		...look
	}: EditorLook & { type?: 'string' | 'json'; preset?: string },
) => custom(name, type, { ...look, preset }, (value): unknown => value ?? undefined);

interface ListLook<Part extends string> extends EditorLook {
	/** The label of the button that adds an entry. */
	add: string;
	/** The key that entries are stored under, and their label in the editor. */
	entry: readonly [key: string, label: string];
	parts: Array<Parameter<Part, unknown>>;
	/** It has at most one entry. */
	isSingle?: boolean;
	isSortable?: boolean;
}

/** Entries of several parts. */
export const list = <Name extends string, Part extends string>(
	name: Name,
	{ add, entry: [key, title], parts, isSingle = false, isSortable, ...look }: ListLook<Part>,
) => {
	const several = omitUndefined({ multipleValues: true, sortable: isSortable });
	const values = parts.map(({ property }) => property);
	return custom(
		name,
		'fixedCollection',
		{
			...look,
			typeOptions: isSingle ? undefined : several,
			narrows: true,
			placeholder: add,
			preset: {},
			options: [{ displayName: title, name: key, values }],
		},
		(value, parameter) => {
			const inside = (isObject(value) ? value[key] : value) ?? [];
			const entries: unknown[] = [inside].flat();
			if (entries.every(isObject)) return entries as Array<Entry<Part>>;
			throw notAllowed(inside, parameter, 'a list of entries');
		},
	);
};
