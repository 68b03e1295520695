/** What an operator may set about judging. Times are milliseconds. */
export type RolloutSettings = {
  /** How long a Pod of a requested image may be seen in a bad state; 0: such a Pod never ends a task early. */
  readonly badPodGraceMs: number
  readonly degradedGraceMs: number
  readonly comparisonErrorGraceMs: number
  readonly syncFailedGraceMs: number
  readonly appGoneGraceMs: number
  /** How long all conditions must stay met; `undefined`: decided by what the application consists of. */
  readonly settleMs: number | undefined
  readonly acceptSuspended: boolean
  /** `<proxy>/<image>` counts as `<image>`. */
  readonly registryProxy: string | undefined
  readonly annotationPrefixes: readonly string[]
  /** Whether an old Pod that still runs keeps a task waiting (condition `no_old_pods`). */
  readonly isStrict: boolean
  readonly controlPlaneNamespace: string
  /** Argo CD itself reads override files of the prefix `argocd` only. */
  readonly overrideFilePrefix: string
  /** Base of the links to applications. */
  readonly linkBase: string
}

/** Fixed times: what the delivery controller's own behaviour dictates. */
export const rolloutTimes = {
  /** When a refresh is asked again while the commit is not seen, counted from the first one. */
  refreshAgainMs: [10_000, 30_000, 60_000],
  refreshEveryMs: 120_000,
  refreshApartMs: 5_000,
  /** Without a commit of ours: the second refresh after acceptance, and those after it by the age of the task. */
  secondRefreshMs: 5_000,
  laterRefreshes: [
    { untilAgeMs: 120_000, everyMs: 15_000 },
    { untilAgeMs: 300_000, everyMs: 30_000 },
  ],
  lateRefreshEveryMs: 60_000,
  /** How long a state from before a task is not believed where it has another tag beside the requested one. */
  changeWaitMs: 30_000,
  changeWaitWithoutRefreshMs: 60_000,
  /** How long another client's refresh may run: one requested meanwhile would be dropped. */
  foreignRefreshMs: 10_000,
  /** How long the end of a refresh may stay unseen before the application is read for it. */
  refreshLostMs: 15_000,
  /** Between two direct reads that look whether no refresh is under way. */
  idleReadApartMs: 5_000,
  /** An application that comes back for less than this may be missed. */
  goneReadEveryMs: 5_000,
  /** How long the comparison after an operation may take before it is asked for. */
  postOperationWaitMs: 10_000,
  /** How long automated sync may take to start before a sync window is suspected. */
  idleBeforeWindowsMs: 20_000,
  windowsEveryMs: 60_000,
  eventsEveryMs: 60_000,
  /** How old a Pod that waits to start is when its events are read. */
  waitingPodMs: 30_000,
  /** Without a further restart for this long, a crash loop has ended. */
  quietAfterRestartMs: 60_000,
  /** How long an operation may wait for something before that is looked into and named. */
  operationWaitMs: 15_000,
  /** How long before a deadline what explains a task is read once more. */
  beforeDeadlineMs: 10_000,
  /** How long a refresh may stay unanswered before the controller is called silent. */
  silentControllerMs: 60_000,
  treeEveryMs: 15_000,
  imagesEveryMs: 15_000,
  /** How long the images may lag behind everything else before the manifests are read for what they declare. */
  imagesLagMs: 3_000,
  ancestryAgainMs: 15_000,
  /** Between two Lists that look for an application that was never seen. */
  absenceApartMs: 1_000,
  /** First wait before a read that failed is tried again; it doubles up to `retryAtMostMs`. */
  retryMs: 2_000,
  retryAtMostMs: 30_000,
  /** How long the last look at the deadline may take. */
  finalCheckMs: 6_000,
  /** For one look at a task whose time had passed before anybody could watch it. */
  overdueCheckMs: 10_000,
  /** A task that has less left than this waits for no turn. */
  urgentMs: 60_000,
  /** How long a refresh waits for the Git host to say whether what the application shows already holds the commit. */
  ancestryMs: 10_000,
} as const
