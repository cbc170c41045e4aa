import type { JsonObject } from '../state/model.mts';

/** All made up, with addresses on domains that are reserved for examples. */
export const companies: JsonObject[] = [
	company('Acorn Sample Ltd', 'Berlin', 12, 'small'),
	company('Birch Demo GmbH', 'Hamburg', 85, 'medium'),
	company('Cedar Example Inc', 'Lisbon', 640, 'large'),
	company('Dogwood, Test & Sons', 'Oslo', 3, 'small'),
	company('Elm Placeholder AG', 'Vienna', 2100, 'large'),
];

const firstnames = ['Ann', 'Bob', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gita', 'Hugo', 'Ida', 'Jon'];
const surnames = ['Fox', 'Dog', 'Owl', 'Wren'];

/** Forty people; `companyId` finds a company's record by its name. */
export function contacts(companyId: (name: string) => string): JsonObject[] {
	return surnames.flatMap((surname, row) =>
		firstnames.map((firstname, column): JsonObject => {
			const position = row * firstnames.length + column;
			const age = 10 + ((position * 7) % 70);
			const day = String(1 + (position % 28)).padStart(2, '0');
			const employer = companies[position % (companies.length + 1)];
			return {
				firstname,
				surname,
				age,
				dateOfBirth: `${2024 - age}-0${1 + (position % 9)}-${day}`,
				email: `${firstname}.${surname}@example.com`.toLowerCase(),
				newsletter: position % 3 === 0,
				...(employer ? { company: { id: companyId(String(employer.name)) } } : {}),
			};
		}),
	);
}

/** A dozen deals; the first one has a value in every field that can have one. */
export function deals(
	companyId: (name: string) => string,
	contactId: (email: string) => string,
): JsonObject[] {
	const stages = ['open', 'won', 'lost'];
	const plain = Array.from({ length: 11 }, (_, index): JsonObject => {
		const employer = companies[index % companies.length];
		return {
			number: `D-${String(index + 2).padStart(3, '0')}`,
			title: `Sample deal ${index + 2}`,
			stage: stages[index % 3] ?? 'open',
			fee: 100 * (index + 1),
			company: { id: companyId(String(employer?.name)) },
		};
	});
	return [
		{
			number: 'D-001',
			title: 'Sample deal with everything',
			summary: 'Two lines\nof text.',
			notes: '**Bold** words.',
			stage: 'open',
			priority: 'high',
			seats: 5,
			weight: 12.5,
			fee: 99.9,
			chance: 0.1,
			value: { amount: 1500, currency: 'EUR', date: '2024-03-01' },
			signed: true,
			due: '2024-12-31',
			meeting: '2024-06-01T10:00:00Z',
			channels: ['mail', 'web'],
			tags: ['sample', 'demo'],
			link: { href: 'https://example.com/deals/1', description: 'Example' },
			steps: {
				lists: [
					{
						id: 'list-1',
						header: 'Before',
						items: [
							{ id: 'item-1', header: 'Call', checked: true },
							{ id: 'item-2', header: 'Write', checked: false },
						],
					},
				],
			},
			talk: {
				messages: [
					{
						id: 'message-1',
						author: 'demo',
						authorName: 'Demo Admin',
						created: '2024-01-02T03:04:05.000Z',
						text: 'Hello',
					},
				],
			},
			company: { id: companyId('Acorn Sample Ltd') },
			people: { add: [contactId('ann.fox@example.com'), contactId('bob.fox@example.com')] },
		},
		...plain,
	];
}

function company(name: string, city: string, employees: number, size: string): JsonObject {
	const host = name.split(/[ ,]/)[0]?.toLowerCase();
	return { name, city, employees, size, website: { href: `https://${host}.example.com` } };
}
