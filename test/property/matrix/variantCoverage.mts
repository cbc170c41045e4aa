/** Which operations were right under which readings of what is unknown about the platform. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { CaseVerdict } from './runCase.mts';
import { variantCases, type VariantCase } from './variantCases.mts';

type Mark = '✓' | '✗' | '';

export class VariantCoverage {
	readonly #rows = new Map<string, Map<string, Mark>>();

	/** Notes a run under a reading; of a pair nothing, because both may be why it failed. */
	add(row: string, { name, readings }: VariantCase, { met = [], problems }: CaseVerdict): void {
		const [setting, ...others] = readings;
		if (others.length > 0) return;
		const marks = this.#rows.get(row) ?? new Map<string, Mark>();
		this.#rows.set(row, marks);
		marks.set(name, problems.length > 0 ? '✗' : met.includes(setting!) ? '✓' : '');
	}

	/** The readings that no run has met. */
	neverMet(): string[] {
		const isMet = (name: string) => [...this.#rows.values()].some((marks) => marks.get(name));
		return variantCases.map(({ name }) => name).filter((name) => !isMet(name));
	}

	/** The rows that a page has otherwise, or not at all. */
	staleRows(file: string): string[] {
		const squeezed = (text: string) => text.replaceAll(' ', '');
		const stated = new Set(readFileSync(file, 'utf8').split('\n').map(squeezed));
		const rows = this.#markdown().match(/^\| [^-].*/gm) ?? [];
		return rows.filter((row) => !stated.has(squeezed(row)));
	}

	/** Replaces what follows the comment in a page. */
	writeTable(file: string): void {
		const [page = ''] = readFileSync(file, 'utf8').split(/(?<=-->\n)/);
		writeFileSync(file, `${page}\n${this.#markdown()}`);
	}

	/** A table of operations and readings: ✓ met and right, ✗ wrong, empty if it doesn't meet it. */
	#markdown(): string {
		const legend = variantCases.map(({ name }, index) => `${index + 1}. ${name}`);
		const head = ['Operation', ...variantCases.map((_, index) => String(index + 1))];
		const lines = [...this.#rows].map(([row, marks]) => [row, ...variantCases.map(({ name }) => marks.get(name) ?? '')]);
		const table = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
		return [...legend, '', ...table, ''].join('\n');
	}
}
