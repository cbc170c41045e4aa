/**
 * The other services that the examples use, played by one small server on loopback: a file server,
 * a CRM, an accounting system and a chat model. In the examples they have addresses on example.com.
 */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { replyToChat } from './demoModel.mts';
import { ROOT } from './nodePackage.mts';
import type { NewCredential } from './n8nApi.mts';

export interface DemoServices {
	/** Its origin, without a trailing slash. */
	url: string;
	/** The replacements that `readExample` makes for addresses on example.com. */
	addresses: Readonly<Record<string, string>>;
	/** For n8n's OpenAI nodes: the stand-in for a chat model. */
	modelCredential: NewCredential;
	stop(): Promise<void>;
}

/** 3,376 airports (iata, name, city, state, country, latitude, longitude), from vega-datasets. */
export async function readAirportsCsv(): Promise<string> {
	return await readFile(
		join(ROOT, 'node_modules', 'vega-datasets', 'data', 'airports.csv'),
		'utf8',
	);
}

interface Person {
	email: string;
	first_name: string;
	last_name: string;
	newsletter: boolean;
	company?: string;
}

/**
 * Two people whom the sandbox has too, one of them under an older name, and one whom it doesn't.
 * Their companies: one that the sandbox has, a new one, and one that differs from the first in
 * case.
 */
const people = (): Person[] => [
	{
		email: 'ann.fox@example.com',
		first_name: 'Anne',
		last_name: 'Fox',
		newsletter: true,
		company: 'Acorn Sample Ltd',
	},
	{
		email: 'bob.fox@example.com',
		first_name: 'Bob',
		last_name: 'Fox',
		newsletter: false,
		company: 'New Example Ltd',
	},
	{
		email: 'nora.new@example.com',
		first_name: 'Nora',
		last_name: 'New',
		newsletter: false,
		company: 'ACORN Sample Ltd',
	},
];

/** Deals in the sandbox, and one that it does not have. */
const INVOICED_DEALS = ['D-001', 'D-003', 'D-404'];

/** A PDF of one page with a line of text. */
function invoicePdf(deal: string): Buffer {
	const text = `BT /F1 24 Tf 72 760 Td (Invoice for ${deal}) Tj ET`;
	const objects = [
		'<< /Type /Catalog /Pages 2 0 R >>',
		'<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
		'<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R ' +
			'/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>',
		`<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
	];
	let pdf = '%PDF-1.4\n';
	const offsets = objects.map((object, index) => {
		const offset = pdf.length;
		pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
		return `${String(offset).padStart(10, '0')} 00000 n \n`;
	});
	const size = objects.length + 1;
	pdf +=
		`xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}` +
		`trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
	return Buffer.from(pdf, 'latin1');
}

interface Response {
	type: string;
	body: string | Buffer;
	fileName?: string;
}

const json = (value: unknown): Response => ({
	type: 'application/json',
	body: JSON.stringify(value),
});

/** The body: JSON as a value, anything else as text. */
async function readBody(request: IncomingMessage): Promise<unknown> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const text = Buffer.concat(chunks).toString('utf8');
	const isJson = request.headers['content-type']?.includes('json') === true;
	if (!isJson) return text;
	return text === '' ? {} : (JSON.parse(text) as unknown);
}

/**
 * Starts the services on a free port.
 *
 * @param platformUrl the base URL of the sandbox, which some examples contain as well
 */
export async function startDemoServices(platformUrl: string): Promise<DemoServices> {
	const csv = await readAirportsCsv();
	const crm = people();
	/** Its list shows changes late: only the second list after them has them. */
	let listed = people();
	let url = '';

	const respond = (method: string, path: string, body: unknown): Response | undefined => {
		const [, service = '', kind = '', id = ''] = path.split('/').map(decodeURIComponent);
		switch (`${method} /${service}/${kind}`) {
			case 'GET /files/airports.csv':
				return { type: 'text/csv; charset=utf-8', body: csv };
			case 'PUT /files/rejected.csv':
			case 'PUT /files/exports':
				return json({ received: Buffer.byteLength(String(body)) });
			case 'GET /crm/people': {
				const list = listed;
				listed = structuredClone(crm);
				return json(list);
			}
			case 'POST /crm/people': {
				const known = crm.find(({ email }) => email === (body as Person).email);
				if (known === undefined) crm.push(body as Person);
				return json(known ?? body);
			}
			case 'PATCH /crm/people': {
				const person = crm.find(({ email }) => email === id);
				return person && json(Object.assign(person, body));
			}
			case 'PUT /crm/companies-of-people':
				return json({ received: (body as { people: unknown[] }).people.length });
			case 'GET /accounting/invoices':
				return json(
					INVOICED_DEALS.map((deal) => ({ deal, url: `${url}/accounting/files/${deal}` })),
				);
			case 'GET /accounting/files':
				return INVOICED_DEALS.includes(id)
					? { type: 'application/pdf', body: invoicePdf(id), fileName: `Invoice ${id}.pdf` }
					: undefined;
			case 'POST /model/chat':
				return json(replyToChat(body));
			default:
				return undefined;
		}
	};

	const server = createServer((request, response) => {
		const { method = '', url: path = '' } = request;
		void readBody(request)
			.then((body) => {
				const result = respond(method, path, body);
				if (result === undefined) {
					response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
					return;
				}
				const { type, body: content, fileName } = result;
				const disposition =
					fileName === undefined
						? {}
						: { 'content-disposition': `attachment; filename="${fileName}"` };
				response.writeHead(200, { 'content-type': type, ...disposition }).end(content);
			})
			.catch(() => response.writeHead(400).end());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return {
		url,
		addresses: {
			'https://files.example.com': `${url}/files`,
			'https://crm.example.com': `${url}/crm`,
			'https://invoices.example.com': `${url}/accounting`,
			'https://platform.example.com': platformUrl,
		},
		modelCredential: {
			name: 'Stand-in for a chat model',
			type: 'openAiApi',
			data: { apiKey: 'none', url: `${url}/model` },
		},
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
