/** Checks that are programs with options of their own, by the name that `npm run check` takes. */
export const PROGRAMS = {
	crash: 'test/endurance/crash/run.mts',
	faults: 'test/property/faults/run.mts',
	import: 'test/property/import/run.mts',
	malformed: 'test/property/malformed/run.mts',
	matrix: 'test/property/matrix/run.mts',
	soak: 'test/endurance/soak/run.mts',
	sync: 'test/property/sync/run.mts',
	trigger: 'test/property/trigger/run.mts',
	twoWay: 'test/property/twoWay/run.mts',
	versions: 'test/e2e/versions/run.mts',
};
