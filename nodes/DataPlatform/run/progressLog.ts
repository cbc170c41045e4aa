import type { IExecuteFunctions } from 'n8n-workflow';

const INTERVAL_MS = 5000;

type Context = Pick<IExecuteFunctions, 'logger' | 'sendMessageToUI'>;

/** Says something to who watches a run: in n8n's log, and in the browser's console if it is manual. */
export function announce(context: Context, text: string) {
	context.logger.info(text);
	context.sendMessageToUI(text);
}

/** Says how far a long run is, every few seconds. */
export class ProgressLog {
	private lastAt = performance.now();

	constructor(private readonly context: Context) {}

	/** @param text called if a line is due */
	note(text: () => string) {
		const now = performance.now();
		if (now - this.lastAt < INTERVAL_MS) return;
		this.lastAt = now;
		announce(this.context, text());
	}
}
