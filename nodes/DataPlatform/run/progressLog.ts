import type { Logger } from 'n8n-workflow';

const INTERVAL_MS = 5000;

/** Writes a line to n8n's log every few seconds during a long run. */
export class ProgressLog {
	private lastAt = performance.now();

	constructor(private readonly logger: Logger) {}

	/** @param text called if a line is due */
	note(text: () => string) {
		const now = performance.now();
		if (now - this.lastAt < INTERVAL_MS) return;
		this.lastAt = now;
		this.logger.info(text());
	}
}
