import { invalid } from '../api/errors.mts';
import type { Fault, FaultRule } from './rules.mts';

interface Counted {
	name: string;
	rule: FaultRule;
	path: RegExp | undefined;
	/** Requests that matched so far. */
	seen: number;
	random: () => number;
}

export interface MetFault {
	name: string;
	fault: Fault;
}

/** The fault rules that are switched on, with their counts; docs/sandbox.md. */
export class FaultBook {
	#rules: Counted[] = [];

	/** Throws a Problem (400) when a path is no regular expression. */
	replace(rules: FaultRule[]): void {
		this.#rules = rules.map((rule, index) => ({
			name: rule.id ?? String(index),
			rule,
			path: rule.match?.path === undefined ? undefined : expression(rule.match.path),
			seen: 0,
			random: generator(rule.when?.seed ?? 1),
		}));
	}

	all(): Array<FaultRule & { seen: number }> {
		return this.#rules.map(({ rule, seen }) => ({ ...rule, seen }));
	}

	/** The faults that this request meets, in the rules' order. Counts it. */
	meet(request: { method: string; path: string; body: unknown }): MetFault[] {
		return this.#due(request, (fault) => fault.kind !== 'resetUpload');
	}

	/** The one that strikes while the body is still on its way, and after how many bytes. */
	meetUpload(request: {
		method: string;
		path: string;
	}): { name: string; bytes: number } | undefined {
		const [met] = this.#due({ ...request, body: null }, (fault) => fault.kind === 'resetUpload');
		return met?.fault.kind === 'resetUpload'
			? { name: met.name, bytes: met.fault.bytes ?? 0 }
			: undefined;
	}

	#due(
		request: { method: string; path: string; body: unknown },
		belongs: (fault: Fault) => boolean,
	): MetFault[] {
		return this.#rules
			.filter((counted) => belongs(counted.rule.fault) && matches(counted, request))
			.filter((counted) => {
				counted.seen += 1;
				return isDue(counted);
			})
			.map(({ name, rule }) => ({ name, fault: rule.fault }));
	}
}

function matches(
	{ rule, path }: Counted,
	request: { method: string; path: string; body: unknown },
): boolean {
	const { method, bodyContains } = rule.match ?? {};
	if (method && method.toUpperCase() !== request.method) return false;
	if (path && !path.test(request.path)) return false;
	return !bodyContains || JSON.stringify(request.body ?? null).includes(bodyContains);
}

function isDue({ rule, seen, random }: Counted): boolean {
	const { nth, every, first, probability } = rule.when ?? {};
	if (nth && !nth.includes(seen)) return false;
	if (every !== undefined && seen % every !== 0) return false;
	if (first !== undefined && seen > first) return false;
	return probability === undefined || random() < probability;
}

function expression(source: string): RegExp {
	try {
		return new RegExp(source);
	} catch {
		throw invalid(`'${source}' is no regular expression.`);
	}
}

/** Numbers from 0 to 1, the same for the same seed (the mulberry32 generator). */
function generator(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
