export type LoggedCall = { readonly kind: string; readonly application: string | undefined; readonly atMs: number }

export type CallCounts = {
  /** Calls that count against the budget of a deployment, by application. */
  readonly budgeted: readonly number[]
  readonly byKind: ReadonlyMap<string, number>
  /** Looks at the Pods of rollouts in progress: a column of their own. */
  readonly trees: number
}

/** Shared by all applications, whatever happens to one of them. */
const shared = ['stream', 'list']

/** What was asked about these applications. */
export function countCalls(log: readonly LoggedCall[], apps: readonly string[]): CallCounts {
  const wanted = new Set(apps)
  const ours = log.filter(({ application, kind }) => wanted.has(application ?? '') && !shared.includes(kind))
  const budgeted = ours.filter(({ kind }) => kind !== 'tree')
  const byKind = new Map<string, number>()
  for (const { kind } of ours) byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
  return {
    budgeted: apps.map((app) => budgeted.filter(({ application }) => application === app).length),
    byKind,
    trees: ours.length - budgeted.length,
  }
}
