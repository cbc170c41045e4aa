import { element, quiet } from './lists.js';

/** @import { PageVariant, Send, View } from './api.mts' */

/**
 * Which reading of each variant is played, with a list to choose another.
 *
 * @param {PageVariant[]} variants
 * @param {Send} send
 * @returns {View}
 */
export function platformView(variants, send) {
	const note = quiet(
		'Nobody has stated how the platform answers in these cases. Choose a reading, then run a ' +
			'workflow in n8n: the nodes are right under each. A reading that is not the default is bold.',
	);
	const rows = variants.map((variant) => variantRow(variant, send));
	return { title: 'Platform', nodes: [note, element('dl', { className: 'variants' }, ...rows)] };
}

/**
 * @param {PageVariant} variant
 * @param {Send} send
 */
function variantRow({ setting, name, readings, played }, send) {
	const id = `variant-${setting}`;
	const chosen = readings.findIndex(({ value }) => value === played);
	const choices = readings.map(({ text }, index) => new Option(text, String(index)));
	const other = chosen < 0 ? [new Option(`Another value: ${played}`, '-1')] : [];
	const select = element('select', { id, className: chosen === 0 ? '' : 'changed' });
	select.append(...choices, ...other);
	select.value = String(chosen);
	select.addEventListener('change', () => {
		const reading = readings[Number(select.value)];
		if (reading) void send('PUT', 'settings', { [setting]: reading.value });
	});
	return element(
		'div',
		{},
		element('dt', {}, element('label', { htmlFor: id }, name)),
		element('dd', {}, select, ' ', element('code', {}, setting)),
	);
}
