/**
 * Makes an entry the most recent one of a map. If there are too many, removes the least recent one.
 */
export function setMostRecent<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): V {
	map.delete(key);
	map.set(key, value);
	const [leastRecent] = map.keys();
	if (map.size > maxEntries) map.delete(leastRecent!);
	return value;
}
