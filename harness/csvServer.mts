/**
 * The demo's data source: 3,376 airports as a CSV file on a web server of this machine, as a
 * workflow would get it from any other. The file comes from the npm package vega-datasets.
 */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ROOT } from './nodePackage.mts';
import { findFreePort } from './processes.mts';

/** The URL in the example workflow; `readExample` replaces it with the running server's. */
export const AIRPORTS_URL = 'http://127.0.0.1:4780/airports.csv';

export interface CsvServer {
	/** Where the CSV file is. */
	url: string;
	stop(): Promise<void>;
}

/** The CSV file: iata, name, city, state, country, latitude, longitude. */
export async function readAirportsCsv(): Promise<string> {
	return await readFile(
		join(ROOT, 'node_modules', 'vega-datasets', 'data', 'airports.csv'),
		'utf8',
	);
}

/** Serves the CSV file on loopback: on its usual port if that is free, else on another. */
export async function startCsvServer(): Promise<CsvServer> {
	const csv = await readAirportsCsv();
	const server = createServer((request, response) => {
		if (request.url !== '/airports.csv') {
			response.writeHead(404).end();
			return;
		}
		response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end(csv);
	});
	const url = new URL(AIRPORTS_URL);
	const port = await findFreePort(Number(url.port));
	url.port = String(port);
	server.listen(port, url.hostname);
	await once(server, 'listening');
	return {
		url: url.href,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
