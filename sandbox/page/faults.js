import { element, quiet } from './lists.js';

/** @import { PageFault, Send } from './api.mts' */

/**
 * Only the next matching request gets the fault. Bodies with fields are writes.
 *
 * @type {Record<string, object>}
 */
const faults = {
	'Too many requests (429)': { fault: { kind: 'status', status: 429, retryAfterSeconds: 3 } },
	'Lost response to a write': {
		match: { bodyContains: '"fields":{' },
		fault: { kind: 'resetAfter' },
	},
	'Slow response (5 s)': { fault: { kind: 'slowBefore', ms: 5000 } },
};

/**
 * Buttons that make the next request fail, and what the active fault rules wait for.
 *
 * @param {PageFault[]} active
 * @param {Send} send
 */
export function faultButtons(active, send) {
	const buttons = Object.entries(faults).map(([id, rule], index) => {
		const button = element('button', { type: 'button', id: `fault-${index}` }, id);
		button.addEventListener('click', () => {
			void send('PUT', 'faults', [{ id, when: { nth: [1] }, ...rule }]);
		});
		return button;
	});
	const note = quiet(
		'Choose a fault for the next request, then run a workflow in n8n. Below, see how the node ' +
			'recovers: it waits, looks up what was written, and sends again what is missing.',
	);
	const section = element('section', { className: 'faults' }, note, ...buttons);
	section.setAttribute('aria-label', 'Faults');
	if (active.length > 0) section.append(activeFaults(active, send));
	return section;
}

/**
 * @param {PageFault[]} active
 * @param {Send} send
 */
function activeFaults(active, send) {
	const texts = active.map(({ id, when, seen }, index) => {
		const isOver = when?.nth !== undefined && seen >= Math.max(...when.nth);
		const count = seen === 0 ? 'waits for a request' : `has matched ${seen} requests`;
		return `${id ?? `Rule ${index}`}: ${isOver ? 'has happened' : count}.`;
	});
	const remove = element('button', { type: 'button', id: 'remove-faults' }, 'Remove');
	remove.addEventListener('click', () => void send('DELETE', 'faults'));
	return element('p', { role: 'status' }, texts.join(' '), ' ', remove);
}
