import type { IExecuteFunctions, IPollFunctions, Logger } from 'n8n-workflow';

const INTERVAL_MS = 5000;

type Context = Pick<IPollFunctions, 'logger' | 'getNode' | 'getWorkflow'> &
	Partial<Pick<IExecuteFunctions, 'getExecutionId' | 'sendMessageToUI'>>;

/** n8n's log. Each line says whose it is: n8n itself does not. */
export function logOf(context: Context): Logger {
	const { logger } = context;
	const line = (text: string) => {
		const execution = context.getExecutionId?.();
		const run = execution ? `, execution ${execution}` : '';
		return `${text} ('${context.getNode().name}' of workflow ${context.getWorkflow().id}${run})`;
	};
	return {
		debug: (text) => logger.debug(line(text)),
		info: (text) => logger.info(line(text)),
		warn: (text) => logger.warn(line(text)),
		error: (text) => logger.error(line(text)),
	};
}

/**
 * Says how far a long run is, every few seconds: in n8n's log, and in the browser's console if it is
 * manual.
 */
export class ProgressLog {
	private lastAt = performance.now();

	constructor(private readonly context: Context) {}

	/** @param text called if a line is due */
	note(text: () => string) {
		const now = performance.now();
		if (now - this.lastAt < INTERVAL_MS) return;
		this.lastAt = now;
		const line = text();
		logOf(this.context).info(line);
		this.context.sendMessageToUI?.(line);
	}
}
