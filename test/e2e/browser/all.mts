/** The tests of the editor with one n8n and one page, in this order: those of the last file write many contacts. */
import './panel.test.mts';
import './switching.test.mts';
import './filter.test.mts';
import './mistakes.test.mts';
