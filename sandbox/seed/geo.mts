import { createApp, createTable } from '../catalog/create.mts';
import type { SandboxState } from '../state/sandboxState.mts';

const inDegrees = (limit: number) => ({ min: -limit, max: limit });

/**
 * The application `geo`. Its table is empty: the demo writes the 3,376 airports from the package
 * vega-datasets into it.
 */
export function seedGeo(state: SandboxState): void {
	const app = createApp(state, { name: 'Geography', internalName: 'geo', timeZone: 'UTC' });
	createTable(state, app, {
		internalName: 'airports',
		header: 'Airports',
		fields: [
			{
				name: 'iata',
				header: 'IATA code',
				type: 'text',
				metadata: { required: true, maxLength: 4, importKey: true },
			},
			{ name: 'name', header: 'Name', type: 'text', metadata: { required: true } },
			{ name: 'city', header: 'City', type: 'text' },
			{ name: 'state', header: 'State', type: 'text' },
			{ name: 'country', header: 'Country', type: 'text' },
			{ name: 'latitude', header: 'Latitude', type: 'decimal', metadata: inDegrees(90) },
			{ name: 'longitude', header: 'Longitude', type: 'decimal', metadata: inDegrees(180) },
		],
		views: [{ name: 'Alaska', filter: 'state(eq)AK' }],
	});
}
