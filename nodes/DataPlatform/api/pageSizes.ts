/**
 * Which pages of records are whole. A platform may cut pages to any number of records, so a page that is
 * shorter than asked for proves nothing on its own. Two things prove that nothing follows it: the next
 * page is empty, or a page of the same endpoint had more records.
 */
import type { ApiClient } from '../transport/client';
import { MAX_PAGE_SIZE } from './endpoints';

/** After so many requests for a next page that turned out to be empty, a larger page is read once. */
const VAIN_REQUESTS = 2;

/** How many records that page has at least. */
const LEAST_SAMPLE = 100;

/** What an execution learned about the pages of one endpoint. */
export class PageSizes {
	/** The platform gives at least so many records in a page: they came in one. */
	atLeast = 0;
	private vainRequests = 0;
	private isLearned = false;

	/** So many records came in one page. */
	note(count: number) {
		this.atLeast = Math.max(this.atLeast, count);
	}

	/** Whether a page that is shorter than asked for, and of this length, was not cut. */
	isWhole(count: number): boolean {
		return count === 0 || count < this.atLeast;
	}

	/** The page that was requested after a short one was empty. */
	noteVainRequest() {
		this.vainRequests += 1;
	}

	/**
	 * Finds out whether the platform gives more records than came, instead of asking for an empty page
	 * after each of many short ones.
	 *
	 * @param count of a page that may have been cut
	 * @param readSample reads so many records of the table, and notes how many came
	 */
	async learn(count: number, readSample: (size: number) => Promise<unknown[]>): Promise<void> {
		if (this.isLearned || this.vainRequests < VAIN_REQUESTS) return;
		const size = Math.min(MAX_PAGE_SIZE, Math.max(LEAST_SAMPLE, 2 * count));
		// If that fails, each short page is followed by an empty one, as before.
		const sample = await readSample(size).catch(() => []);
		this.isLearned = sample.length < size;
	}
}

const byClient = new WeakMap<ApiClient, Map<string, PageSizes>>();

/** What is known of an endpoint's pages. @param path the endpoint's: each may cut its pages differently */
export function pageSizes(client: ApiClient, path: string): PageSizes {
	const byPath = byClient.get(client) ?? new Map<string, PageSizes>();
	byClient.set(client, byPath);
	const sizes = byPath.get(path) ?? new PageSizes();
	byPath.set(path, sizes);
	return sizes;
}
