/**
 * Parameters of items are read as n8n's own evaluation returns them. Both are compared for random
 * items and expressions, with n8n's own context.
 */
import { additionalData, fullNode, NODE_TYPE, nodeTypes, prepare } from '../../harness/engine/engine.cts';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { DateTime } from 'luxon';
import { ExecuteContext } from 'n8n-core';
import {
	createRunExecutionData,
	Expression,
	Workflow,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { parametersOfItems } from '../../nodes/DataPlatform/parameterKinds/itemParameters.ts';
import { plainPath } from '../../nodes/DataPlatform/parameterKinds/plainReference.ts';
import { defined } from '../support/engine/engine.cts';
import { runsOf } from '../support/part.mts';

const NODE = 'Data Platform';

/** Its expressions are evaluated in the isolate that it holds. */
const workflow = new Workflow({ nodes: [fullNode({ name: NODE, type: NODE_TYPE }, 0)], connections: {}, active: false, nodeTypes });
const node = workflow.getNode(NODE)!;

/** The context of the node, with these items. */
function contextOf(items: INodeExecutionData[]) {
	const inputData = { main: [items] };
	return new ExecuteContext(
		workflow,
		node,
		additionalData({ baseUrl: 'http://127.0.0.1', token: '' }),
		'manual',
		createRunExecutionData({}),
		0,
		items,
		inputData,
		{ node, data: inputData, source: null },
		[],
	) as unknown as IExecuteFunctions;
}

/** Whether it is a date, and not data with the name by which dates are told. */
const isDateTime = (value: object) => DateTime.isDateTime(value) && !Object.hasOwn(value, 'isLuxonDateTime');

/** A copy with the same content: n8n converts dates in the original. Its containers are of this realm. */
function copyOf(value: unknown): unknown {
	if (value instanceof Date) return new Date(value);
	if (typeof value !== 'object' || value === null || isDateTime(value)) return value;
	if (Array.isArray(value)) return Array.from(value, copyOf);
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

/** The result of reading, with its type; of an error, its message and what n8n keeps with it. */
function told(read: () => unknown) {
	try {
		return { value: copyOf(read()) };
	} catch (error) {
		const { name, message, description, context } = error as Error & IDataObject;
		return { name, message, description, context };
	}
}

const READING = { skipValidation: true };

const toItems = (json: unknown[]) => json.map((each) => ({ json: copyOf(each) as IDataObject }));

/** Expects that a parameter has the same value for each item as in n8n. */
function expectSame(parameters: object, json: unknown[], path: string) {
	// Only now: the workflow drops parameters that the editor would not show.
	node.parameters = { resource: 'record', ...parameters };
	const read = parametersOfItems(contextOf(toItems(json)));
	const context = contextOf(toItems(json));
	expect(context.getNodeParameter(path, 0, null, { rawExpressions: true })).not.toBeNull();
	for (const index of json.keys()) {
		const ours = told(() => read(path, index, null, READING));
		const n8n = told(() => context.getNodeParameter(path, index, null, READING));
		if (!isDeepStrictEqual(ours, n8n)) expect([index, ours]).toStrictEqual([index, n8n]);
		expect(isDeepStrictEqual(ours, n8n)).toBe(true);
	}
}

const NAMES = [
	...['a', 'b', 'E-mail', 'first name', '0', '1', 'length', 'größe'],
	...['名前', '𝒳', '$', '$json', '_', 'class', 'constructor', 'constructorName'],
	...['__proto__', 'prototype', '__lookupGetter__', 'toString', 'valueOf', 'hasOwnProperty', 'getPrototypeOf', 'defineProperty'],
	...['mainModule', 'binding', '_load', 'caller', 'callee', 'arguments', 'dlopen', 'first'],
	...['isEmpty', 'map', 'json', 'isLuxonDateTime', "it's", 'a.b', 'a"b', 'a\\b'],
	...['a}}b', '{{ a', '//', 'extend', 'this', 'globalThis', 'process', 'undefined'],
	...[''],
];

const name = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom('a', 'b', 'E-mail') },
	{ weight: 4, arbitrary: fc.constantFrom(...NAMES) },
	fc.string({ unit: 'grapheme', maxLength: 4 }),
);

const leaf = fc.oneof(
	fc.string({ maxLength: 5 }),
	fc.constantFrom('', '=', '={{ 1 }}', '2024-02-30', '2024-05-01T10:00:00Z', 'a,b', '12'),
	fc.integer(),
	fc.double(),
	fc.boolean(),
	fc.constantFrom(null, undefined, 0, -0, NaN, Infinity),
	fc.constant(0).map(() => new Date('2024-05-01T10:00:00Z')),
	fc.constant(0).map(() => DateTime.fromISO('2024-05-01T10:00:00Z')),
);

const { json } = fc.letrec((tie) => ({
	value: fc.oneof({ weight: 4, arbitrary: leaf }, fc.array(tie('value'), { maxLength: 3 }), { weight: 2, arbitrary: tie('json') }),
	json: fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries) as unknown),
}));

const space = fc.constantFrom('', '', '', ' ', '  ', '\n', '\t', '\r\n ', '\u00a0');

const step = fc.oneof(
	{ weight: 3, arbitrary: fc.tuple(space, space, name).map(([a, b, n]) => `${a}.${b}${n}`) },
	fc.tuple(space, space, name).map(([a, b, n]) => `${a}[${b}${JSON.stringify(n)}${a}]`),
	fc.tuple(space, space, name).map(([a, b, n]) => `${a}[${b}'${n}'${a}]`),
	fc.tuple(space, fc.constantFrom(0, 1, 5, '00', '01', -1, 1.5)).map(([a, n]) => `[${a}${n}]`),
	name.map((n) => `?.${n}`),
);

const reference = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => `$json${steps.join('')}`);

/** The content of one pair of braces. */
const code = fc.oneof(
	{ weight: 6, arbitrary: reference },
	fc
		.tuple(
			reference,
			fc.constantFrom(
				...['.toDateTime()', '.toUpperCase()', '.length', '.first()', '.isEmpty()', '.map(x => x)'],
				...[' ?? 1', ' + 1', '; 1', ' // x', '.keys()'],
			),
		)
		.map(([text, more]) => `${text}${more}`),
	fc.constantFrom(
		...['$json', '$itemIndex', '$now', '$parameter["&E-mail"]', '$parameter.resource'],
		...['$("No Such Node").item.json.a', '1 +', '$fromAI("a")', '{ a: $json.a }', '[$json.a, $json.b]'],
		...['DateTime.fromISO("2024-05-01")', '$json.a.b.c.d', 'throw new Error()'],
	),
);

const expression = fc.oneof(
	{
		weight: 8,
		arbitrary: fc
			.array(fc.constantFrom('.a', '.b', ' . a', '["E-mail"]', "['a']", '[0]', '[ 1 ]'), { minLength: 1, maxLength: 3 })
			.map((steps) => `={{ $json${steps.join('')} }}`),
	},
	{ weight: 8, arbitrary: fc.tuple(space, code, space).map(([a, c, b]) => `={{${a}${c}${b}}}`) },
	code.map((c) => `={{ ${c} }} `),
	code.map((c) => `= {{ ${c} }}`),
	code.map((c) => `=x {{ ${c} }}`),
	fc.tuple(code, code).map(([a, b]) => `={{ ${a} }}{{ ${b} }}`),
	code.map((c) => `={{ ${c} `),
	code.map((c) => `{{ ${c} }}`),
	fc.constantFrom('', '=', 'constant', '={{ }}'),
);

/** A value that differs each time it is read is not compared. */
const isSteady = (text: string) => !text.includes('$now');

beforeAll(prepare);

const RUNS = runsOf(Number(process.env.PROPERTY_RUNS ?? 500));

/** n8n's default. The others are compared every week: n8n 1 has only `legacy`. */
const ENGINE = (process.env.EXPRESSION_ENGINE ?? 'vm') as 'legacy' | 'vm' | 'quickjs';

describe(`with the expression engine ${ENGINE}`, () => {
	beforeAll(async () => {
		await Expression.initExpressionEngine({
			engine: ENGINE,
			poolSize: 1,
			maxCodeCacheSize: 1024,
			bridgeTimeout: 5000,
			bridgeMemoryLimit: 128,
		});
		await workflow.expression.acquireIsolate();
		expect(Expression.getActiveImplementation()).toBe(ENGINE);
	});

	afterAll(async () => {
		await Expression.disposeExpressionEngine();
		Expression.setExpressionEngine('legacy');
	});

	test('an expression has the same value as in n8n', () => {
		let plain = 0;
		fc.assert(
			fc.property(expression.filter(isSteady), fc.array(json, { minLength: 1, maxLength: 4 }), (text, items) => {
				if (plainPath(text)) plain += 1;
				expectSame({ recordId: text }, items, 'recordId');
			}),
			{ numRuns: RUNS },
		);
		expect(plain).toBeGreaterThan(RUNS / 4);
	});

	test('mapped fields have the same values as in n8n', () => {
		const constant = leaf.filter((value) => typeof value !== 'object' || value === null);
		const values = fc.dictionary(name, fc.oneof(expression.filter(isSteady), constant), { maxKeys: 5 });
		fc.assert(
			fc.property(values, fc.array(json, { minLength: 1, maxLength: 4 }), (mapped, items) => {
				expectSame({ columns: defined(mapped as IDataObject) }, items, 'columns.value');
			}),
			{ numRuns: RUNS },
		);
	});

	test('the entries of a list have the same values as in n8n', () => {
		const entries = fc.array(fc.record({ field: name, value: expression.filter(isSteady) }), { maxLength: 3 });
		fc.assert(
			fc.property(entries, fc.array(json, { minLength: 1, maxLength: 3 }), (field, items) => {
				expectSame({ fieldsToSet: { field } }, items, 'fieldsToSet');
			}),
			{ numRuns: Math.ceil(RUNS / 2) },
		);
	});
});
