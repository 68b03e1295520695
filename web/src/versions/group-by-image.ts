import type { AppVersions, RunningVersion } from '../../../contract/versions.ts'
import { figure } from '../ui/figure.ts'

/** A version that an application runs. */
export type AppVersion = RunningVersion & { readonly app: string }
export type ImageGroup = { readonly image: string; readonly versions: readonly AppVersion[] }

/** Every image with a line for each application and version: first those that drift, last those of others, by name. */
export function groupByImage(apps: readonly AppVersions[]): readonly ImageGroup[] {
  const all = apps.flatMap(({ app, images }) => images.map((version) => ({ ...version, app })))
  return [...Map.groupBy(all, ({ image }) => image)]
    .map(([image, versions]) => ({ image, versions }))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || (one.image < other.image ? -1 : 1))
}

const rankOf = ({ versions }: ImageGroup) =>
  versions.some(({ drift }) => drift) ? 0 : versions.some(({ task_id }) => task_id !== undefined) ? 1 : 2

/** The first rows of all groups. */
export function firstRows(groups: readonly ImageGroup[], count: number): readonly ImageGroup[] {
  let left = count
  return groups.flatMap(({ image, versions }) => {
    const shown = versions.slice(0, left)
    left -= shown.length
    return shown.length === 0 ? [] : [{ image, versions: shown }]
  })
}

/** "2 images in 3 applications. 1 drifts." */
export function versionsSentence(groups: readonly ImageGroup[]): string {
  const versions = groups.flatMap((group) => group.versions)
  const apps = new Set(versions.map(({ app }) => app)).size
  const drifting = versions.filter(({ drift }) => drift).length
  const drift = drifting === 0 ? 'None drifts.' : `${figure(drifting)} ${drifting === 1 ? 'drifts' : 'drift'}.`
  return `${counted(groups.length, 'image')} in ${counted(apps, 'application')}. ${drift}`
}

export const counted = (count: number, noun: string) => `${figure(count)} ${noun}${count === 1 ? '' : 's'}`
