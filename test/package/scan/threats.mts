/**
 * GuardDog's YARA rules on a folder, as n8n's scan will run them (n8n pull request 38095). The
 * rules are neither an npm package nor a part of this repository: `git clone
 * https://github.com/DataDog/guarddog`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, matchesGlob, relative } from 'node:path';

interface Match {
	identifier: string;
	metadata: Array<{ identifier: string; value: unknown }>;
}

interface Rules {
	scan(bytes: Uint8Array): { matches: Match[] };
}

interface YaraX {
	default(options: { module_or_path: Uint8Array }): Promise<unknown>;
	Compiler: new () => { addSource(source: string): void; build(): Rules };
}

/** What makes n8n's scan fail. The other rules (`capability_…`) only describe what code can do. */
const isThreat = ({ identifier }: Match) => identifier.startsWith('threat_');

/** The text of a rule's file, including the files that it includes. */
const ruleSource = (folder: string, file: string) =>
	readFileSync(join(folder, file), 'utf8').replace(/^include "(.+)"$/gm, (_, included: string) =>
		readFileSync(join(folder, included), 'utf8'),
	);

async function compile(folder: string): Promise<Rules> {
	const entry = createRequire(import.meta.url).resolve('@virustotal/yara-x');
	const { default: init, Compiler } = (await import(entry)) as YaraX;
	await init({ module_or_path: readFileSync(join(entry, '../yara_x_js_bg.wasm')) });
	const compiler = new Compiler();
	for (const file of readdirSync(folder)) {
		if (file.endsWith('.yar')) compiler.addSource(ruleSource(folder, file));
	}
	return compiler.build();
}

/** Whether a rule applies to files with this path: most rules are for certain kinds of files. */
function isFor({ metadata }: Match, path: string): boolean {
	const globs = (name: string) => {
		const value = metadata.find(({ identifier }) => identifier === name)?.value;
		return typeof value === 'string' ? value.split(',') : undefined;
	};
	const isAmong = (patterns: string[]) =>
		patterns.some((glob) => matchesGlob(basename(path), glob) || matchesGlob(`package/${path}`, glob));
	return isAmong(globs('path_include') ?? ['*']) && !isAmong(globs('path_exclude') ?? []);
}

const threatsIn = (rules: Rules, path: string, bytes: Uint8Array) =>
	rules
		.scan(bytes)
		.matches.filter((match) => isThreat(match) && isFor(match, path))
		.map(({ identifier }) => `${path}: ${identifier}`);

/**
 * The files of a folder that match a threat rule, each with the rule.
 *
 * @param rulesFolder `guarddog/analyzer/sourcecode` in a clone of GuardDog
 * @throws {Error} if the rules don't find what they must find
 */
export async function findThreats(folder: string, rulesFolder: string): Promise<string[]> {
	const rules = await compile(rulesFolder);
	const control = threatsIn(rules, 'control.js', Buffer.from('downloadFile(url)'));
	if (control.length === 0) throw new Error(`The rules in ${rulesFolder} match nothing`);
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.flatMap(({ parentPath, name }) => {
			const file = join(parentPath, name);
			return threatsIn(rules, relative(folder, file), readFileSync(file));
		});
}
