import { canonicalName } from '../../contract/application-name.ts'
import type { ObservedApplication } from '../rollout/observed/observed-application.ts'

export type ShownApplication = {
  /** As tasks name it. */
  readonly app: string
  /** Every image reference that runs, with the time from which this replica has seen it run without a break. */
  readonly images: ReadonlyMap<string, number>
  /** When Argo CD last showed it so. */
  readonly confirmedMs: number
}

type Kept = ShownApplication & { readonly uid: string; readonly version: number; readonly bytes: number }

const usualLimits = { applications: 10_000, bytes: 32 * 1024 * 1024 }
/** What an application and one of its images take beside their texts, of which a character takes two bytes at most. */
const entryBytes = 500
const imageBytes = 100

/**
 * What Argo CD shows of the applications: by the stream, the Lists and the direct reads that are made anyway. While Argo CD is
 * away the last state stays.
 */
export function createShownApplications(controlPlaneNamespace: string, nowMs: () => number, limits = usualLimits) {
  const kept = new Map<string, Kept>()
  let bytes = 0
  let isTruncated = false

  const nameOf = ({ namespace, name }: ObservedApplication) =>
    canonicalName(`${namespace}/${name}`, controlPlaneNamespace)

  const forget = (app: string) => {
    bytes -= kept.get(app)?.bytes ?? 0
    kept.delete(app)
  }

  const see = (application: ObservedApplication) => {
    const app = nameOf(application)
    const { uid, version } = application
    const before = kept.get(app)
    const isSame = before?.uid === uid
    if (isSame && version < before.version) return
    const now = nowMs()
    const images = new Map(
      application.images.map((image) => [image, (isSame ? before.images.get(image) : undefined) ?? now]),
    )
    const entry = { app, images, confirmedMs: now, uid, version, bytes: bytesOf(app, images) }
    forget(app)
    if (kept.size >= limits.applications || bytes + entry.bytes > limits.bytes) {
      isTruncated = true
      return
    }
    kept.set(app, entry)
    bytes += entry.bytes
  }

  return {
    see,
    remove: (application: ObservedApplication) => forget(nameOf(application)),
    /** A List that was asked at `askedAtMs`: an application that it does not have is gone, unless it was seen since. */
    replace(applications: readonly ObservedApplication[], askedAtMs: number) {
      const listed = new Set(applications.map(nameOf))
      for (const { app, confirmedMs } of kept.values()) if (!listed.has(app) && confirmedMs < askedAtMs) forget(app)
      isTruncated = false
      for (const application of applications) see(application)
    },
    count: () => kept.size,
    names: (): readonly string[] => [...kept.keys()],
    all: (): readonly ShownApplication[] => [...kept.values()],
    /** Whether an application was left out for want of room. */
    isTruncated: () => isTruncated,
  }
}
export type ShownApplications = ReturnType<typeof createShownApplications>

const bytesOf = (app: string, images: ReadonlyMap<string, number>) =>
  [...images.keys()].reduce((sum, image) => sum + imageBytes + 2 * image.length, entryBytes + 2 * app.length)
