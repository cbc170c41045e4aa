/**
 * Tells complete pages from cut ones. A platform may cut pages to some length, so a short page does
 * not prove that it is the last one. Three things do: the next page is empty, another page of the
 * same endpoint had more records, or it has fewer than the platform returns without a limit.
 */
import type { ApiClient } from '../transport/client';

/** How many records the platform returns without a limit. contract/openapi.yaml, `limit`. */
const DEFAULT_PAGE_SIZE = 25;

/** What an execution has learned about the pages of one endpoint. */
export class PageSizes {
	/** The largest page so far: the platform returns at least this many records in one. */
	atLeast = 0;
	private wasCut = false;

	/** Notes how many records a page had. */
	note(count: number) {
		this.atLeast = Math.max(this.atLeast, count);
	}

	/**
	 * Whether a page of this length, shorter than requested, was not cut.
	 *
	 * @param isCertain whether only what this execution has seen counts
	 */
	isWhole(count: number, isCertain = false): boolean {
		if (count === 0 || count < this.atLeast) return true;
		return !isCertain && !this.wasCut && count < DEFAULT_PAGE_SIZE;
	}

	/** Notes that the page after a short one had more records. */
	noteCut() {
		this.wasCut = true;
	}
}

const byClient = new WeakMap<ApiClient, Map<string, PageSizes>>();

/**
 * What is known about an endpoint's pages.
 *
 * @param path the endpoint's: each may have its own limit
 */
export function pageSizes(client: ApiClient, path: string): PageSizes {
	const byPath = byClient.get(client) ?? new Map<string, PageSizes>();
	byClient.set(client, byPath);
	const sizes = byPath.get(path) ?? new PageSizes();
	byPath.set(path, sizes);
	return sizes;
}
