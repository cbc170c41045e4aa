import { element, quiet } from './lists.js';

/** @import { Fault, FaultRule } from '../faults/rules.mts' */
/** @import { PageFault, Send } from './api.mts' */

const writes = { bodyContains: '"fields":{' };
/** Opening a node's panel in n8n reads definitions, and must not use up the fault. */
const work = { path: '/(data|webhooks)(/|$)' };
const batches = { path: '/data/bulk$' };

/**
 * A button for each kind of fault. Only the next request that matches gets the fault.
 *
 * @type {{
 *   [Kind in Fault['kind']]: {
 *     label: string;
 *     fault: Omit<Extract<Fault, { kind: Kind }>, 'kind'>;
 *     match?: FaultRule['match'];
 *   };
 * }}
 */
const faults = {
	status: { label: 'Too many requests (429)', fault: { status: 429, retryAfterSeconds: 3 } },
	resetAfter: { label: 'Lost response to a write', fault: {}, match: writes },
	slowBefore: { label: 'Slow response (5 s)', fault: { ms: 5000 } },
	slowAfter: { label: 'Slow response after a write (5 s)', fault: { ms: 5000 }, match: writes },
	resetBefore: { label: 'Connection reset before a write', fault: {}, match: writes },
	resetUpload: { label: 'Connection reset during an upload', fault: {}, match: batches },
	hang: { label: 'No response', fault: {} },
	truncate: { label: 'Half a response', fault: {} },
	wrongLength: { label: 'Wrong Content-Length', fault: { by: 10 } },
	html: { label: 'HTML page (502)', fault: {} },
	empty: { label: 'Empty response (200)', fault: {} },
	redirect: { label: 'Redirect', fault: { location: 'https://elsewhere.invalid/' } },
	failRecords: { label: 'First record fails', fault: { indexes: [0] }, match: batches },
	skipRecords: { label: 'First record is skipped', fault: { indexes: [0] }, match: batches },
	rejectBatch: { label: 'Batch is rejected (400)', fault: {}, match: batches },
	rejectAbove: { label: 'More than one record (413)', fault: { records: 1 }, match: batches },
	fewerRecords: { label: 'One record too few', fault: {} },
	moreRecords: { label: 'One record too many', fault: {} },
	reorderRecords: { label: 'Records in reverse order', fault: {} },
};

/** How many faults are shown without opening the others. */
const usual = 3;

/**
 * Buttons that make the next request fail, and what the active fault rules wait for.
 *
 * @param {PageFault[]} active
 * @param {Send} send
 */
export function faultButtons(active, send) {
	const buttons = Object.entries(faults).map(([kind, { label, fault, match = work }]) => {
		const button = element('button', { type: 'button', id: `fault-${kind}` }, label);
		const rule = { id: label, when: { nth: [1] }, match, fault: { kind, ...fault } };
		button.addEventListener('click', () => void send('PUT', 'faults', [rule]));
		return button;
	});
	const note = quiet(
		'Choose a fault for the next request for records or workflows, then run a workflow in n8n. ' +
			'Below, see how the node recovers: it waits, looks up what was written, and sends again what is missing.',
	);
	const others = element(
		'details',
		{ id: 'other-faults' },
		element('summary', { id: 'other-faults-summary' }, 'Other faults'),
		...buttons.slice(usual),
	);
	const section = element(
		'section',
		{ className: 'faults' },
		note,
		...buttons.slice(0, usual),
		others,
	);
	section.setAttribute('aria-label', 'Faults');
	if (active.length > 0) section.append(activeFaults(active, send));
	return section;
}

/**
 * @param {PageFault[]} active
 * @param {Send} send
 */
function activeFaults(active, send) {
	const texts = active.map(({ id, seen, met }, index) => {
		const count = seen === 0 ? 'waits for a request' : `has matched ${seen} requests`;
		const happened = `has happened to request ${met.join(', ')}`;
		return `${id ?? `Rule ${index}`}: ${met.length > 0 ? happened : count}.`;
	});
	const remove = element('button', { type: 'button', id: 'remove-faults' }, 'Remove');
	remove.addEventListener('click', () => void send('DELETE', 'faults'));
	return element('p', { role: 'status' }, texts.join(' '), ' ', remove);
}
