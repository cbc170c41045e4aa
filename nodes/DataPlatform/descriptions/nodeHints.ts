/**
 * Hints that the editor shows beside the node's output.
 */
import type { NodeHint } from 'n8n-workflow';

/** Up to so many items, an operation that sends a request for each is as good. */
const FEW_ITEMS = 20;

/** @param operation what is chosen; @param name what writes the same items in a few requests */
const forManyItems = (operation: string, name: string): NodeHint => ({
	message: `This operation sends a request for each item. For many items, use '${name}': it writes them in a few requests, with an outcome for each.`,
	displayCondition: `={{ $parameter["resource"] === "record" && $parameter["operation"] === "${operation}" && $input.all().length > ${FEW_ITEMS} }}`,
	whenToDisplay: 'always',
	location: 'outputPane',
});

export const nodeHints = [
	forManyItems('create', 'Create Many'),
	forManyItems('update', 'Update Many'),
	forManyItems('upsert', 'Create or Update Many'),
];
