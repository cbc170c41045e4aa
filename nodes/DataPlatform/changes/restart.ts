/**
 * Emits changes once more, from a time on. What was not emitted yet stays pending, however old it
 * is.
 */
import { startFromTime } from './reader';
import { addHashes, LIMITS, type ChangeState, type Position } from './tracker';

/** The state if watching restarts at a time, in ms since 1970, which may be in the future. */
export function restartAt(state: ChangeState, time: number): ChangeState {
	const { watermark, digests } = state;
	const backlog: NonNullable<ChangeState['backlog']> = state.backlog ?? {
		createdWatermark: watermark,
		earlier: '',
	};
	const { createdWatermark, earlier, restart } = backlog;
	const start = startFromTime(time);
	const isFromStartOn = (position: Position | undefined) => position && position.time >= time;
	// All that is pending changed after the start. Whatever was created before it counts as known.
	if (isFromStartOn(createdWatermark)) return start;
	const emitted = Object.entries(state.emitted);
	const forgotten = new Set(emitted.filter(([, [, at]]) => at >= time).map(([id]) => id));
	const isBack = isFromStartOn(watermark);
	// If the watermark moves back, `emitted` does not name all records that come again.
	const isKept = ([id]: readonly [string, unknown]) => !isBack && !forgotten.has(id);
	return {
		...state,
		...(isBack && start),
		emitted: Object.fromEntries(emitted.filter(isKept)),
		backlog: {
			...backlog,
			earlier: '',
			restart: {
				time: Math.min(time, restart?.time ?? Infinity),
				earlier: addHashes((restart?.earlier ?? '') + earlier, forgotten, LIMITS),
			},
		},
		...(digests && { digests: Object.fromEntries(Object.entries(digests).filter(isKept)) }),
	};
}
