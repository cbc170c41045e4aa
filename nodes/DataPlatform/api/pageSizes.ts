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
	/** The platform cuts no page below this number of records: so many came in one. */
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
		// Where that fails, each page is still followed by an empty one.
		const sample = await readSample(size).catch(() => []);
		this.isLearned = sample.length < size;
	}
}

const known = new WeakMap<ApiClient, Map<string, PageSizes>>();

/** @param path the endpoint's, with the table in it: each may cut its pages differently */
export function pageSizes(client: ApiClient, path: string): PageSizes {
	const ofClient = known.get(client) ?? new Map<string, PageSizes>();
	known.set(client, ofClient);
	const sizes = ofClient.get(path) ?? new PageSizes();
	ofClient.set(path, sizes);
	return sizes;
}
