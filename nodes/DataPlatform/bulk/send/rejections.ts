/**
 * Rejections that don't say which record is to blame. If nothing is accepted in between, they are about
 * the table, the plan or the network: sending the rest would only repeat them. Pure.
 */
import { ServiceError } from '../../transport/errors';

/** After so many, records are sent alone and ahead of their batches, to find out. */
const SUSPICIOUS = 3;

/** How many records are sent alone before nothing more is sent. */
const ENOUGH = 10;

/** How many rejected batches a run divides. */
const MAX_DIVISIONS = 1000;

export class Rejections {
	private last?: ServiceError;
	private count = 0;
	private alone = 0;
	private divisions = 0;

	/** Records were accepted, or the platform named the one that it rejects. */
	end() {
		this.last = undefined;
	}

	/** A request was rejected. @returns why to send nothing more */
	add(rejection: ServiceError, size: number): ServiceError | undefined {
		const { last } = this;
		// One reason for all has the same words; single records are rejected for their own values.
		const isSame = rejection.status === last?.status && rejection.message === last?.message;
		if (!isSame) this.count = this.alone = 0;
		this.last = rejection;
		this.count += 1;
		if (size === 1) this.alone += 1;
		if (this.alone < ENOUGH) return undefined;
		const text = `${rejection.message}; ${ENOUGH} items, each sent by itself, were rejected with these words`;
		return new ServiceError(text, rejection);
	}

	/** A rejected batch is divided. @returns why to send nothing more */
	divide(rejection: ServiceError): ServiceError | undefined {
		this.divisions += 1;
		if (this.divisions < MAX_DIVISIONS) return undefined;
		const text = `${rejection.message}; ${MAX_DIVISIONS} rejected batches were divided to find the items to blame`;
		return new ServiceError(text, rejection);
	}

	/**
	 * Which record to send by itself next: the first one, or later any one, because the first ones may
	 * be alike.
	 */
	get probe(): 'first' | 'any' | undefined {
		if (!this.last || this.count < SUSPICIOUS) return undefined;
		return this.alone < ENOUGH / 2 ? 'first' : 'any';
	}
}
