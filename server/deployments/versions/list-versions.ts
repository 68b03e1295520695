import { setImmediate as turn } from 'node:timers/promises'
import type { AppVersions, RunningVersion, VersionFilter, Versions } from '../../../contract/versions.ts'
import { fillAnswer } from '../../http/limits/fill-answer.ts'
import type { TaskAudience } from '../read/describe-task.ts'
import type { WantedTags } from './read-task-images.ts'
import { type ImageMatch, requestedTagsOf, runningVersion, type TaskImage } from './running-versions.ts'

/** What Argo CD shows of an application: its images, with the time from which each has been seen. */
type ShownApplication = {
  readonly app: string
  readonly images: ReadonlyMap<string, number>
  readonly confirmedMs: number
}

type Dependencies = {
  readonly shown: { readonly all: () => readonly ShownApplication[]; readonly isTruncated: () => boolean }
  /** Since when what is shown may be outdated. Times of these two are those of `nowMs`. */
  readonly staleSinceMs: () => number | undefined
  readonly readTasks: (wanted: readonly WantedTags[]) => Promise<ReadonlyMap<string, readonly TaskImage[]>>
  readonly match: ImageMatch
  /** Never goes back. */
  readonly nowMs: () => number
  readonly wallMs: () => number
}

const keptMs = 5_000
/** So many are described before others have their turn. */
const chunkSize = 200

type Snapshot = { readonly asOf: number; readonly apps: readonly (AppVersions & { readonly hasTask: boolean })[] }

/** Lists what runs, beside what was deployed. The history is read once in five seconds for all who ask. */
export function createListVersions({ shown, staleSinceMs, readTasks, match, nowMs, wallMs }: Dependencies) {
  const epochOf = (atMs: number) => (wallMs() - nowMs() + atMs) / 1000
  let kept: { untilMs: number; readonly reading: Promise<Snapshot> } | undefined

  const read = async (): Promise<Snapshot> => {
    const asOf = wallMs() / 1000
    const applications = shown.all().toSorted((one, other) => (one.app < other.app ? -1 : 1))
    const requested = await readTasks(applications.map(wantedTagsOf))
    const apps: (AppVersions & { hasTask: boolean })[] = []
    for (const [index, { app, images, confirmedMs }] of applications.entries()) {
      if (index % chunkSize === chunkSize - 1) await turn()
      const ofApp = requested.get(app)
      const running = [...images].map(([reference, sinceMs]) =>
        runningVersion(reference, epochOf(sinceMs), ofApp ?? [], match),
      )
      apps.push({
        app,
        confirmed: epochOf(confirmedMs),
        images: running.toSorted(byName),
        hasTask: ofApp !== undefined,
      })
    }
    return { asOf, apps }
  }

  const snapshot = (): Promise<Snapshot> => {
    if (kept && nowMs() < kept.untilMs) return kept.reading
    const entry = { untilMs: Number.POSITIVE_INFINITY, reading: read() }
    kept = entry
    entry.reading.then(
      () => {
        entry.untilMs = nowMs() + keptMs
      },
      () => {
        entry.untilMs = 0
      },
    )
    return entry.reading
  }

  return async (filter: VersionFilter, audience: TaskAudience, address: string): Promise<Versions> => {
    let asOf = 0
    let matching: AppVersions[] = []
    const find = async () => {
      const { apps, ...read } = await snapshot()
      asOf = read.asOf
      matching = []
      for (const { hasTask, ...one } of apps) {
        const images = one.images.filter(matches(filter, one.app))
        const isShown = images.length > 0 && (await isShownTo(audience, one.app, hasTask))
        if (isShown) matching.push({ ...one, images })
      }
      return inChunks(matching)
    }
    const { items, isCut } = await fillAnswer(address, find)
    const staleMs = staleSinceMs()
    return {
      as_of: asOf,
      stale: staleMs !== undefined,
      ...(staleMs === undefined ? {} : { stale_since: epochOf(staleMs) }),
      total: matching.length,
      has_more: isCut,
      truncated: shown.isTruncated(),
      apps: items,
    }
  }
}
export type ListVersions = ReturnType<typeof createListVersions>

const wantedTagsOf = ({ app, images }: ShownApplication): WantedTags => ({
  app,
  tags: [...new Set([...images.keys()].flatMap(requestedTagsOf))],
})

const isShownTo = async ({ canSeeTasksOf, canSeeMoreOf }: TaskAudience, app: string, hasTask: boolean) =>
  hasTask ? canSeeTasksOf(app) : canSeeMoreOf(app)

function matches(filter: VersionFilter, app: string): (version: RunningVersion) => boolean {
  const has = (text: string, part = '') => text.toLowerCase().includes(part.toLowerCase())
  const isOfApp = filter.app === undefined || filter.app === '' || filter.app === app
  return ({ image, tag = '', digest = '', drift }) =>
    isOfApp &&
    has(image, filter.image) &&
    [app, image, tag, digest, `${image}:${tag}`].some((text) => has(text, filter.search)) &&
    (filter.drift !== true || drift)
}

function* inChunks<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let from = 0; from < items.length; from += chunkSize) yield items.slice(from, from + chunkSize)
}

const byName = (one: RunningVersion, other: RunningVersion) => (one.image < other.image ? -1 : 1)
