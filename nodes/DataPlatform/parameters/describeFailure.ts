/**
 * Turns errors into problems in words for the user.
 */
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { InputError, problemOf, ServiceError, type Problem } from '../transport/errors';

/** Throws a problem that has more than words, such as files. */
export class ProblemError extends Error {
	constructor(readonly problem: Problem) {
		super(problem.message);
	}
}

/** The part of an error that users see. */
export function toProblem(error: unknown): Problem {
	if (error instanceof ProblemError) return error.problem;
	if (error instanceof ServiceError) return problemOf(error);
	const outcome = 'failed';
	if (error instanceof InputError) {
		const { message, hint, field, item, causes } = error;
		return { message, hint, causes, item, outcome: error.outcome ?? outcome, field };
	}
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return { message: error.message, hint: error.description ?? undefined, outcome };
	}
	return { message: error instanceof Error ? error.message : String(error), outcome };
}
