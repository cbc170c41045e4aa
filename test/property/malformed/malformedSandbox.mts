/** A sandbox behind a gateway that makes its responses malformed. */
import type { FaultCase } from '../matrix/faultCases.mts';
import type { FaultRule, LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import type { ConnectedSandbox } from '../../../harness/sandboxProcess.mts';
import { FAULT } from '../matrix/assertOutcome.mts';
import { MatrixSandbox, type Truth } from '../matrix/matrixSandbox.mts';
import { Gateway, type MalformedRequest, type Plan } from './gateway.mts';

/** What the rules of the matrix know about it: a response that leaves everything open. */
export const malformedResponse = (isLate: boolean): FaultCase => ({
	name: 'malformed',
	effect: 'ambiguous',
	fault: { kind: 'none' },
	isLate,
});

export class MalformedSandbox extends MatrixSandbox {
	readonly gateway: Gateway;
	/** Applied from the beginning of the run to its end. */
	plan: Plan | undefined;
	/** Whether the run shows the definitions of tables as they are. */
	showsTables = false;

	constructor(sandbox: ConnectedSandbox, gateway: Gateway) {
		super(sandbox);
		this.gateway = gateway;
	}

	override get credential() {
		return { ...super.credential, baseUrl: this.gateway.origin };
	}

	override async begin(rules: FaultRule[]): Promise<void> {
		await super.begin(rules.filter(({ id }) => id !== FAULT));
		this.gateway.follow(this.plan);
	}

	override async truth(): Promise<Truth> {
		const struck = [...this.gateway.malformed];
		this.gateway.follow();
		const truth = await super.truth();
		const kinds = new Map<string, LoggedRequest[]>();
		for (const request of truth.requests) {
			const kind = `${request.method} ${request.path}?${request.query}`;
			kinds.set(kind, [...(kinds.get(kind) ?? []), request]);
		}
		for (const { method, path, query, nth } of struck) {
			kinds.get(`${method} ${path}?${query}`)?.[nth - 1]?.faults.push(FAULT);
		}
		const isShown = ({ isOpaque, isFieldPart }: MalformedRequest) => isOpaque || (isFieldPart && this.showsTables);
		return {
			...truth,
			payloadAltered: struck.some(isShown),
			fieldsReplaced: struck.some(({ hasOtherFields }) => hasOtherFields),
			untyped: struck.flatMap(({ fieldName }) => fieldName ?? []),
		};
	}
}
