/**
 * Checks all types. Each file is read once and checked with the configuration that includes it, where
 * `tsc` with one configuration after the other also reads and checks what those files import.
 *
 *   node scripts/types.mts
 */
import { join } from 'node:path';
import ts from 'typescript';

const CONFIGURATIONS = [
	// The build has checked it.
	...(process.env.PACKAGE_IS_BUILT ? [] : ['tsconfig.json']),
	'tsconfig.dev.json',
	'test/tsconfig.json',
	'sandbox/page/tsconfig.json',
];

const root = join(import.meta.dirname, '..');
const format: ts.FormatDiagnosticsHost = {
	getCurrentDirectory: () => root,
	getCanonicalFileName: (name) => name,
	getNewLine: () => ts.sys.newLine,
};
const sources = new Map<string, ts.SourceFile | undefined>();

function check(configuration: string): ts.Diagnostic[] {
	const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(
		join(root, configuration),
		{ noEmit: true },
		{
			...ts.sys,
			onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
				throw new Error(ts.formatDiagnostic(diagnostic, format));
			},
		},
	)!;
	const host = ts.createCompilerHost(options);
	const read = host.getSourceFile.bind(host);
	host.getSourceFile = (name, parsing, ...rest) => {
		const key = JSON.stringify([name, parsing]);
		if (!sources.has(key)) sources.set(key, read(name, parsing, ...rest));
		return sources.get(key);
	};
	const program = ts.createProgram({
		rootNames: fileNames,
		options,
		configFileParsingDiagnostics: errors,
		host,
	});
	return fileNames.flatMap((name) => [
		...ts.getPreEmitDiagnostics(program, program.getSourceFile(name)),
	]);
}

const found = ts.sortAndDeduplicateDiagnostics(CONFIGURATIONS.flatMap(check));
process.stdout.write(ts.formatDiagnostics(found, format));
process.exit(found.length > 0 ? 1 : 0);
