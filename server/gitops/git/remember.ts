const maxRemembered = 20_000

/** Keeps the newest entries of a map. */
export function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value)
  const oldest = map.keys().next()
  if (map.size > maxRemembered && !oldest.done) map.delete(oldest.value)
}
