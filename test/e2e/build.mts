/** The set-up of files that run at the same time: none of them builds the package under the others' feet. */
export { buildPackage as globalSetup } from '../../harness/nodePackage.mts';
