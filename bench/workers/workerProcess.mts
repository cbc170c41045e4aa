/**
 * A process that runs tasks on request and measures each one. It stays alive between tasks, as n8n
 * does, so that code is compiled only once.
 */
import { measure, type Measurement } from '../measure.mts';

/** Prepares a task and returns the part that is measured, which may return details. */
export type Task<Input> = (input: Input) => Promise<() => Promise<object | void>>;

interface TaskMessage {
	name: string;
	input: unknown;
}

export type Reply = { error: string } | (Measurement & object);

/** Serves the process that started this one, until that disconnects. */
export function serveTasks<Inputs>(tasks: { [Name in keyof Inputs]: Task<Inputs[Name]> }): void {
	process.on('message', async ({ name, input }: TaskMessage) => {
		let reply: Reply;
		try {
			const run = await tasks[name as keyof Inputs](input as Inputs[keyof Inputs]);
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
