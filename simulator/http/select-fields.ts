type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/**
 * Keeps only the named paths, as a stream's `fields` does; a list that starts with `-` names what to leave out.
 *
 * A parent matches by string prefix, so asking for `spec.sources` leaves an empty `spec.source`. Members come out sorted.
 */
export function selectFields(value: unknown, fields: string): unknown {
  const isExclusion = fields.startsWith('-')
  const paths = fields.replace(/^-/, '').split(',')
  // What is filtered is always the API's own JSON.
  return select(value as Json, '', paths, isExclusion)
}

function select(value: Json, path: string, paths: readonly string[], isExclusion: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => select(item, path, paths, isExclusion))
  if (typeof value !== 'object' || value === null) return value
  const members = value as { readonly [key: string]: Json | undefined }
  const kept: [string, Json][] = []
  for (const key of Object.keys(members).sort()) {
    const inner = members[key]
    const innerPath = path === '' ? key : `${path}.${key}`
    if (inner === undefined) continue
    const isNamed = paths.some((wanted) => innerPath === wanted || innerPath.startsWith(`${wanted}.`))
    const isParent = paths.some((wanted) => wanted.startsWith(innerPath))
    if (isExclusion) {
      if (!isNamed) kept.push([key, select(inner, innerPath, paths, isExclusion)])
    } else if (isNamed) kept.push([key, sorted(inner)])
    else if (isParent && typeof inner === 'object' && inner !== null) {
      kept.push([key, select(inner, innerPath, paths, isExclusion)])
    }
  }
  return Object.fromEntries(kept)
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = value as { readonly [key: string]: Json | undefined }
  return Object.fromEntries(
    Object.keys(members)
      .sort()
      .flatMap((key): [string, Json][] => (members[key] === undefined ? [] : [[key, sorted(members[key])]])),
  )
}

/** Paths that List can filter by; any other name is silently left out. */
const listFields = [
  'metadata.resourceVersion',
  'items.metadata.name',
  'items.metadata.namespace',
  'items.metadata.annotations',
  'items.metadata.labels',
  'items.metadata.creationTimestamp',
  'items.metadata.deletionTimestamp',
  'items.spec',
  'items.spec.destination',
  'items.spec.project',
  'items.spec.source',
  'items.spec.sources',
  'items.spec.sourceHydrator',
  'items.spec.syncPolicy',
  'items.status.summary',
  'items.status.health',
  'items.status.resources',
  'items.status.sourceHydrator',
  'items.status.sync.status',
  'items.status.sync.revision',
  'items.status.operationState.startedAt',
  'items.status.operationState.finishedAt',
  'items.status.operationState.phase',
  'items.operation.sync',
]

/** List's own filter: a fixed set of names; the list's resource version always stays. */
export function selectListFields(list: unknown, fields: string): unknown {
  const asked = fields.split(',').filter((field) => listFields.includes(field))
  const syncResult = fields.includes('items.status.operationState.operation.sync')
    ? ['items.status.operationState.syncResult']
    : []
  return selectFields(list, ['metadata', ...asked, ...syncResult].join(','))
}
