/**
 * Reads parameters for many items. Plain references to an item's data are read directly, other
 * expressions by n8n. Values, types and errors are the same as n8n's.
 */
import type { IExecuteFunctions } from 'n8n-workflow';

import type { ReadParameter } from './parameter';
import { isPlain, NOT_PLAIN, plainPath, readPlain } from './plainReference';

/** Returns a stored value for an item, or `NOT_PLAIN` if n8n must resolve the whole value. */
type Resolve = (index: number) => unknown;

/** Only n8n can resolve an expression that uses other members of its parameter. */
const SEES_OTHERS = /parameter/i;

class ItemParameters {
	private readonly items;
	/** By a reference's text: true if n8n returned the same value for it. */
	private readonly trusted = new Map<string, boolean>();

	constructor(private readonly context: IExecuteFunctions) {
		this.items = context.getInputData();
	}

	/** A stored value, parsed once for all items. */
	resolver(stored: unknown, isMember = false): Resolve {
		if (typeof stored === 'string' && stored.startsWith('=')) {
			return this.expression(stored, isMember);
		}
		if (typeof stored !== 'object' || stored === null) return () => stored;
		// Lists are in filters and payloads: their requests take longer than what n8n does.
		if (Array.isArray(stored)) return () => NOT_PLAIN;
		return this.object(stored as Record<string, unknown>);
	}

	private expression(text: string, isMember: boolean): Resolve {
		const path = plainPath(text);
		if (!path) {
			if (!isMember || SEES_OTHERS.test(text)) return () => NOT_PLAIN;
			return (index) => this.evaluate(text, index);
		}
		return (index) => {
			const value = readPlain(this.items[index]?.json, path);
			if (value === NOT_PLAIN) return this.evaluate(text, index);
			const isTrusted = this.trusted.get(text);
			if (isTrusted) return value;
			const evaluated = this.evaluate(text, index);
			// n8n confirms each reference once per run. If its value differs, n8n keeps evaluating it.
			if (isTrusted === undefined && evaluated !== NOT_PLAIN) {
				this.trusted.set(text, JSON.stringify(value) === JSON.stringify(evaluated));
			}
			return evaluated;
		};
	}

	/**
	 * Lets n8n evaluate one expression. If it fails or its value is not plain, n8n resolves the whole
	 * parameter.
	 */
	private evaluate(text: string, index: number): unknown {
		try {
			const value: unknown = this.context.evaluateExpression(text.slice(1), index);
			return isPlain(value) ? value : NOT_PLAIN;
		} catch {
			return NOT_PLAIN;
		}
	}

	private object(stored: Record<string, unknown>): Resolve {
		if (Object.hasOwn(stored, '__proto__')) return () => NOT_PLAIN;
		const members = Object.entries(stored).map(
			([name, member]) => [name, this.resolver(member, true)] as const,
		);
		return (index) => {
			const values: Record<string, unknown> = {};
			for (const [name, resolve] of members) {
				const value = resolve(index);
				if (value === NOT_PLAIN) return NOT_PLAIN;
				values[name] = value;
			}
			return values;
		};
	}
}

const RAW = { rawExpressions: true, skipValidation: true };

/** Reads like `context.getNodeParameter`. No parameter may have a type that n8n validates. */
export function parametersOfItems(context: IExecuteFunctions): ReadParameter {
	const parameters = new ItemParameters(context);
	const known = new Map<string, { stored: unknown; resolve: Resolve }>();
	const read = (path: string) => {
		let parameter = known.get(path);
		if (!parameter) {
			const stored: unknown = context.getNodeParameter(path, 0, null, RAW);
			const resolve = stored === null ? () => NOT_PLAIN : parameters.resolver(stored);
			parameter = { stored, resolve };
			known.set(path, parameter);
		}
		return parameter;
	};
	return (path, index, preset, options = {}) => {
		if (options.rawExpressions) return read(path).stored;
		const value = read(path).resolve(index);
		if (value !== NOT_PLAIN) return value;
		return context.getNodeParameter(path, index, preset, options);
	};
}
