const { rm } = require('node:fs/promises');
const { dest, src, task } = require('gulp');

task('clean', async () => await rm('dist', { recursive: true, force: true }));

// Without `encoding: false` gulp 5 reads files as text and ruins binary ones.
task('build:icons', () => src('icons/*.{svg,png}', { encoding: false }).pipe(dest('dist/icons')));
