/** The connections to the platform that are measured. */

export interface Wire {
	name: string;
	https: boolean;
	/** Added by a delaying TCP proxy; see servers/latencyProxy.mts. */
	roundTripMs: number;
}

const https = (roundTripMs: number): Wire => ({
	name: `HTTPS, ${roundTripMs} ms`,
	https: true,
	roundTripMs,
});

/** Plain HTTP on loopback: nothing to wait for, so every millisecond of a client counts. */
export const HTTP: Wire = { name: 'HTTP', https: false, roundTripMs: 0 };

/** HTTPS on loopback, without a proxy. */
export const HTTPS: Wire = { name: 'HTTPS', https: true, roundTripMs: 0 };

/** On the same continent: the usual case. */
export const HTTPS_25 = https(25);

export const WIRES: readonly Wire[] = [HTTP, HTTPS_25];
