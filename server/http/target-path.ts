/**
 * The path that a request is about, as routes are found by it: without its query, with `%61` read as `a`, and of an
 * absolute target (RFC 9112, section 3.2.2) the path alone.
 */
export function targetPath(target: string): string {
  const path = target.startsWith('/') ? target.split('?', 1)[0] : URL.parse(target)?.pathname
  try {
    return decodeURI(path ?? target)
  } catch {
    return path ?? target
  }
}
