module.exports = {
	semi: true,
	trailingComma: 'all',
	bracketSpacing: true,
	useTabs: true,
	tabWidth: 2,
	arrowParens: 'always',
	singleQuote: true,
	quoteProps: 'as-needed',
	endOfLine: 'lf',
	printWidth: 100,
	overrides: [
		{ files: ['*.yaml', '*.yml', '*.md'], options: { useTabs: false } },
		// A row of a table is one line.
		{ files: ['test/**'], options: { printWidth: 140, objectWrap: 'collapse' } },
	],
};
