/** Which methods a path answers to, for 405 and its `Allow`. */
type KnownRoutes = {
  add(method: string, pattern: string): void
  methodsAt(path: string): readonly string[]
}

/** Remembers routes by their patterns (`/api/v1/tasks/:id`). */
export function createKnownRoutes(): KnownRoutes {
  const methodsOf = new Map<string, { segments: readonly string[]; methods: Set<string> }>()
  return {
    add(method, pattern) {
      const route = methodsOf.get(pattern) ?? { segments: pattern.split('/'), methods: new Set() }
      methodsOf.set(pattern, route)
      route.methods.add(method)
    },
    methodsAt(path) {
      const segments = path.split('/')
      const matching = [...methodsOf.values()].filter((route) => isMatch(route.segments, segments))
      const fewest = Math.min(...matching.map(countParameters))
      const closest = matching.filter((route) => countParameters(route) === fewest)
      return [...new Set(closest.flatMap((route) => [...route.methods]))].sort()
    },
  }
}

/** `/tasks/counts` is not the task named `counts`. */
const countParameters = ({ segments }: { readonly segments: readonly string[] }) =>
  segments.filter((segment) => segment.startsWith(':')).length

function isMatch(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((segment, index) => (segment.startsWith(':') ? path[index] !== '' : segment === path[index]))
  )
}

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
