/**
 * A process that does pieces of work when it is asked to and says what each took. It stays between
 * two pieces, as n8n does: what is compiled and connected once is not paid for again.
 */
import { measure } from '../memory.mts';

/** Prepares the work and returns the part that is measured, which may return details. */
export type Work<Task> = (task: Task) => Promise<() => Promise<object | void>>;

export interface TaskMessage {
	work: string;
	task: unknown;
}

export type Reply = { error: string } | ({ seconds: number; memoryMB: number } & object);

/** Serves the process that started this one, until it goes. */
export function serveTasks<Tasks>(works: { [Name in keyof Tasks]: Work<Tasks[Name]> }): void {
	process.on('message', async ({ work, task }: TaskMessage) => {
		let reply: Reply;
		try {
			const run = await works[work as keyof Tasks](task as Tasks[keyof Tasks]);
			let details: object = {};
			const measurement = await measure(async () => {
				details = (await run()) ?? {};
			});
			reply = { ...measurement, ...details };
		} catch (error) {
			reply = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
		}
		process.send!(reply);
	});
	process.on('disconnect', () => process.exit());
	process.send!('ready');
}
