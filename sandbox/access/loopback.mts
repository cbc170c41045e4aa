const host = String.raw`(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?`;
const hostPattern = new RegExp(`^${host}$`);
const urlPattern = new RegExp(`^https?://${host}(/|$)`);

/** Whether a `Host` header names this machine. */
export function isLoopbackHost(text: string): boolean {
	return hostPattern.test(text);
}

/** Whether an HTTP URL leads to this machine; the sandbox never sends requests anywhere else. */
export function isLoopbackUrl(text: string): boolean {
	return urlPattern.test(text);
}
