import { invalid } from '../api/errors.mts';
import type { Fault, FaultRule } from './rules.mts';

interface CountedRule {
	name: string;
	rule: FaultRule;
	path: RegExp | undefined;
	/** Requests that matched so far. */
	seen: number;
	/** The numbers of the latest requests that got the fault. */
	met: number[];
	random: () => number;
}

export interface MatchedFault {
	name: string;
	fault: Fault;
}

/** How many requests a rule remembers. */
const metKept = 10;

/** A request, by its number in the log. */
interface MatchedRequest {
	number: number;
	method: string;
	path: string;
	body: unknown;
}

/** The active fault rules with their counters; docs/sandbox.md. */
export class FaultRegistry {
	#rules: CountedRule[] = [];

	/** Throws an ApiError (400) if a path is not a regular expression. */
	replace(rules: FaultRule[]): void {
		this.#rules = rules.map((rule, index) => ({
			name: rule.id ?? String(index),
			rule,
			path: rule.match?.path === undefined ? undefined : toRegExp(rule.match.path),
			seen: 0,
			met: [],
			random: seededRandom(rule.when?.seed ?? 1),
		}));
	}

	all(): Array<FaultRule & { seen: number; met: number[] }> {
		return this.#rules.map(({ rule, seen, met }) => ({ ...rule, seen, met }));
	}

	/** Counts the request; returns the faults to apply, in the rules' order. */
	match(request: MatchedRequest): MatchedFault[] {
		return this.#due(request, (fault) => fault.kind !== 'resetUpload');
	}

	/** Counts the request; returns the fault that cuts off its body, and after how many bytes. */
	matchUpload(request: Omit<MatchedRequest, 'body'>): { name: string; bytes: number } | undefined {
		const [matched] = this.#due(
			{ ...request, body: null },
			(fault) => fault.kind === 'resetUpload',
		);
		return matched?.fault.kind === 'resetUpload'
			? { name: matched.name, bytes: matched.fault.bytes ?? 0 }
			: undefined;
	}

	#due(request: MatchedRequest, belongs: (fault: Fault) => boolean): MatchedFault[] {
		return this.#rules
			.filter((counted) => belongs(counted.rule.fault) && matches(counted, request))
			.filter((counted) => {
				counted.seen += 1;
				if (!isDue(counted)) return false;
				counted.met = [...counted.met, request.number].slice(-metKept);
				return true;
			})
			.map(({ name, rule }) => ({ name, fault: rule.fault }));
	}
}

function matches({ rule, path }: CountedRule, request: MatchedRequest): boolean {
	const { method, bodyContains } = rule.match ?? {};
	if (method && method.toUpperCase() !== request.method) return false;
	if (path && !path.test(request.path)) return false;
	return !bodyContains || JSON.stringify(request.body ?? null).includes(bodyContains);
}

function isDue({ rule, seen, random }: CountedRule): boolean {
	const { nth, every, first, probability } = rule.when ?? {};
	if (nth && !nth.includes(seen)) return false;
	if (every !== undefined && seen % every !== 0) return false;
	if (first !== undefined && seen > first) return false;
	return probability === undefined || random() < probability;
}

function toRegExp(source: string): RegExp {
	try {
		return new RegExp(source);
	} catch {
		throw invalid(`'${source}' is not a regular expression.`);
	}
}

/** Numbers from 0 to 1, reproducible by seed (mulberry32). */
function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
