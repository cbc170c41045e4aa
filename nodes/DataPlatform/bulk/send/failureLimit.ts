/**
 * Stops a run in which too many items fail. Pure.
 */
import { ServiceError } from '../../transport/errors';

/** The share of failures counts once this many written items have an outcome. */
export const MIN_OUTCOMES = 100;

export class FailureLimit {
	private rows = 0;
	/** Rows that can't be sent. */
	private problems = 0;
	private written = 0;
	private failed = 0;
	/** Why nothing more is sent, if too many items failed. */
	reason?: ServiceError;

	/** @param maxShare in percent; undefined for no limit */
	constructor(private readonly maxShare: number | undefined) {}

	/** Rows are about to be written, except those with problems. */
	planned(rows: number, problems: number) {
		this.rows += rows;
		this.problems += problems;
		this.check();
	}

	/** A row that was sent has an outcome. */
	resolved(isFailed: boolean) {
		this.written += 1;
		if (isFailed) this.failed += 1;
		this.check();
	}

	/** Assumes that the rest fail as often as those written so far. */
	private check() {
		const { maxShare, rows, problems } = this;
		if (maxShare === undefined || this.reason) return;
		const isSample = this.written >= MIN_OUTCOMES;
		const [failed, written] = isSample ? [this.failed, this.written] : [0, 1];
		// No division: rounding would put an exact share slightly above the limit.
		const expected = problems * written + (rows - problems) * failed;
		if (expected * 100 <= maxShare * rows * written) return;
		const parts = [
			...(problems > 0 ? [`${problems} of ${rows} items have problems`] : []),
			...(failed > 0 ? [`${failed} of the first ${written} that were written failed`] : []),
		];
		this.reason = new ServiceError(
			`more than ${maxShare} % of the items fail (${parts.join(', ')})`,
			{
				delivery: 'notApplied',
				code: 'tooManyFailed',
			},
		);
	}
}
