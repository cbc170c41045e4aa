/**
 * The demo's data source: 3,376 airports as a CSV file on a web server of this machine, as a
 * workflow would get it from any other. The file comes from the npm package vega-datasets.
 */

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ROOT } from './launch.mts';

/** The address in the example workflow; the demo puts its own port there. */
export const AIRPORTS_ADDRESS = 'http://127.0.0.1:4780/airports.csv';

export interface AirportServer {
	/** Where the CSV file is. */
	url: string;
	stop(): Promise<void>;
}

/** The CSV file: iata, name, city, state, country, latitude, longitude. */
export async function readAirports(): Promise<string> {
	return await readFile(
		join(ROOT, 'node_modules', 'vega-datasets', 'data', 'airports.csv'),
		'utf8',
	);
}

/** Serves the CSV file on loopback: on the usual port when it is free, else on another. */
export async function serveAirports(): Promise<AirportServer> {
	const csv = await readAirports();
	const server = createServer((request, response) => {
		if (request.url !== '/airports.csv') {
			response.writeHead(404).end();
			return;
		}
		response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end(csv);
	});
	const listen = async (port: number) =>
		await new Promise<boolean>((settle) => {
			server.once('error', () => settle(false));
			server.listen(port, '127.0.0.1', () => settle(true));
		});
	const usual = Number(new URL(AIRPORTS_ADDRESS).port);
	if (!(await listen(usual)) && !(await listen(0))) throw new Error('No free port was found.');
	const address = server.address();
	const port = typeof address === 'object' && address !== null ? address.port : usual;
	return {
		url: `http://127.0.0.1:${port}/airports.csv`,
		stop: async () => {
			server.closeAllConnections();
			await new Promise<void>((settle) => server.close(() => settle()));
		},
	};
}
