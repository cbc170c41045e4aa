/**
 * Files in n8n's store, read and written as streams.
 */
import type { IBinaryData } from 'n8n-workflow';

import { InputError } from '../transport/errors';
import { newStream } from '../transport/streams';
import type { RunContext } from './run';

type Stored = Parameters<RunContext<never>['context']['helpers']['prepareBinaryData']>[0];

/**
 * Writes a file into n8n's store while it is made.
 *
 * @throws what making it throws; {InputError} where the store takes no more, as with a full disk
 */
export async function storeFile(
	run: RunContext<never>,
	pieces: AsyncIterable<Uint8Array>,
	name: string,
	mimetype: string,
): Promise<IBinaryData> {
	let failure: { error: unknown } | undefined;
	async function* watched() {
		try {
			yield* pieces;
		} catch (error) {
			failure = { error };
			throw asIs(error);
		}
	}
	try {
		const stream = newStream(watched()) as unknown as Stored;
		return await run.context.helpers.prepareBinaryData(stream, name, mimetype);
	} catch (error) {
		throw failure ? failure.error : notStored(name, error as Error);
	}
}

const asIs = (error: unknown) => error;

const notStored = (name: string, { message }: Error) =>
	new InputError(`'${name}' can't be written to n8n's store: ${message}`, {
		hint: 'Make room on the disk, or raise the size limit of the store, and run it again.',
	});
