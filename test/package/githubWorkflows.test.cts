/** GitHub's workflows: what runs the code of other packages can't publish ours, and no tag can be moved under an action. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { OUTCOME_NAMES } from '../../nodes/DataPlatform/bulk/outcome.ts';

interface Job {
	permissions?: Record<string, string>;
	steps?: Array<{ uses?: string; run?: string }>;
}

const folder = join(__dirname, '../../.github/workflows');
const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
const jobs = files.flatMap(([file, text]) =>
	Object.entries((parse(text) as { jobs: Record<string, Job> }).jobs).map(([name, job]) => [`${file}: ${name}`, job] as const),
);

test.each(files)('%s names each action by its commit, with its version', (_, text) => {
	const actions = text.match(/uses: .*/g) ?? [];
	expect(actions.length).toBeGreaterThan(0);
	for (const action of actions) expect(action).toMatch(/^uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test('the job that may publish runs no code of other packages', () => {
	const publishing = jobs.filter(([, { permissions }]) => permissions?.['id-token'] !== undefined);
	expect(publishing.map(([name]) => name)).toEqual(['publish.yml: publish']);
	const [, { steps = [] }] = publishing[0]!;
	const commands = steps.map(({ run = '' }) => run).join('\n');
	expect(commands).toContain('npm publish ./*.tgz --provenance --access public --ignore-scripts');
	expect(commands).not.toMatch(/npm (ci|i|install|test|run|exec|pack)\b|npx/);
	expect(steps.some(({ uses = '' }) => uses.startsWith('actions/checkout'))).toBe(false);
});

test('the form for problems asks for versions, each outcome that an item can have, and the executionId', () => {
	const text = readFileSync(join(folder, '../ISSUE_TEMPLATE/problem.yml'), 'utf8');
	const { body } = parse(text) as { body: Array<{ id?: string; attributes: { options?: string[] } }> };
	expect(body.map(({ id }) => id)).toEqual(expect.arrayContaining(['versions', 'outcome', 'execution']));
	expect(body.find(({ id }) => id === 'outcome')!.attributes.options).toEqual([...OUTCOME_NAMES, 'none']);
});
