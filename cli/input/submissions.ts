import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Image, TaskSubmission } from '../../contract/task.ts'
import { parseDuration } from '../../contract/text/parse-duration.ts'
import { usageError } from '../exit.ts'
import type { ArgoWatcherVariables } from './argo-watcher-variables.ts'
import { ciDefaults, type Source, type Variables } from './ci-defaults.ts'
import { parseImage } from './image.ts'

/** As the flags of `deploy` are parsed. */
export type DeployFlags = {
  readonly deployments: readonly { readonly app: string; readonly images: readonly string[] }[]
  readonly author?: string
  readonly project?: string
  readonly environment?: string
  readonly timeout?: number
  readonly refresh?: boolean
  readonly waitForApp?: number
  readonly onFailure?: string
  readonly sourceRepository?: string
  readonly sourceSha?: string
  readonly sourceRef?: string
  readonly sourceUrl?: string
  readonly sourceCommittedAt?: number
  readonly fromFile?: string
}

/** A submission with the key by which the service knows it again. */
export type KeyedSubmission = { readonly submission: TaskSubmission; readonly key: string }

type Fields = Partial<TaskSubmission> & { readonly app: string }

/**
 * What is submitted: of the flags, of the file, or of argo-watcher's variables. A field of the file wins over a flag, a flag
 * over the variables of the CI.
 * @throws {ExitError} naming what is missing
 */
export function submissionsOf(
  flags: DeployFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
): readonly KeyedSubmission[] {
  const named = flags.deployments.map(({ app, images }) => ({ app, images: images.map(parseImage) }))
  const read = flags.fromFile === undefined ? [] : readTasks(flags.fromFile)
  const given: readonly Fields[] = [...named, ...read]
  const asked = given.length > 0 || argoWatcher === undefined ? given : [ofArgoWatcher(argoWatcher)]
  if (asked.length === 0) throw usageError('nothing to deploy: give --app and --image, or --from-file')
  return asked.map((fields) => {
    const { images = [] } = fields
    if (images.length === 0) throw usageError(`--app ${fields.app}: needs an --image behind it`)
    const usual = defaultsOf(flags, variables, argoWatcher, fields.app)
    return { submission: { ...usual, ...fields, images }, key: randomUUID() }
  })
}

function defaultsOf(
  flags: DeployFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
  app: string,
) {
  const ci = ciDefaults(variables)
  const source = sourceOf(flags, ci.source)
  return withoutAbsent({
    author: flags.author ?? argoWatcher?.author ?? ci.author ?? userName(),
    project: flags.project ?? argoWatcher?.project ?? ci.project ?? app,
    environment: flags.environment,
    timeout: flags.timeout ?? argoWatcher?.timeout,
    refresh: flags.refresh ?? argoWatcher?.refresh,
    wait_for_app: flags.waitForApp,
    on_failure: flags.onFailure,
    source,
  }) as unknown as Omit<TaskSubmission, 'app' | 'images'>
}

/** The service takes a commit with its repository, or none. */
function sourceOf(flags: DeployFlags, ci: Source): Record<string, unknown> | undefined {
  const source = withoutAbsent({
    repository: flags.sourceRepository ?? ci.repository,
    sha: flags.sourceSha ?? ci.sha,
    ref: flags.sourceRef ?? ci.ref,
    url: flags.sourceUrl ?? (flags.sourceSha === undefined ? ci.url : undefined),
    committed_at: flags.sourceCommittedAt ?? (flags.sourceSha === undefined ? ci.committed_at : undefined),
  })
  if ('repository' in source && 'sha' in source) return source
  const given = [flags.sourceRepository, flags.sourceSha, flags.sourceRef, flags.sourceUrl, flags.sourceCommittedAt]
  if (given.every((one) => one === undefined)) return undefined
  throw usageError(`--source-${'sha' in source ? 'repository' : 'sha'} is missing: a source has both`)
}

function ofArgoWatcher({ app, images, tag }: ArgoWatcherVariables): Fields {
  for (const [name, value] of Object.entries({ ARGO_APP: app, IMAGES: images[0], IMAGE_TAG: tag }))
    if (value === undefined) throw usageError(`${name} is not set`)
  return { app: app ?? '', images: images.map((image) => ({ image, tag: tag ?? '' })) }
}

/** A list of submissions as the API has them, alone or as `tasks` of an object; `-` is the standard input. */
function readTasks(file: string): readonly Fields[] {
  const name = `--from-file ${file}`
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw usageError(`${name}: ${(error as Error).message}`)
  }
  const tasks = Array.isArray(content) ? content : (content as { tasks?: unknown } | null)?.tasks
  if (!Array.isArray(tasks) || tasks.length === 0)
    throw usageError(`${name}: must be a list of tasks, or {"tasks": […]}`)
  return tasks.map((task: unknown, index) => {
    const { app, images } = (task ?? {}) as { app?: unknown; images?: unknown }
    const place = `${name}: tasks[${index}]`
    if (typeof app !== 'string') throw usageError(`${place}.app: must be a string`)
    if (!Array.isArray(images))
      throw usageError(`${place}.images: must be a list of {"image", "tag"}, or of "image:tag"`)
    return { ...(task as object), app, images: images.map((image) => imageOf(image, `${place}.images`)) }
  })
}

function imageOf(image: unknown, place: string): Image {
  if (typeof image === 'string') return parseImage(image)
  const { image: name, tag } = (image ?? {}) as Partial<Image>
  if (typeof name !== 'string' || typeof tag !== 'string')
    throw usageError(`${place}: must be a list of {"image", "tag"}, or of "image:tag"`)
  return { image: name, tag }
}

function userName(): string {
  try {
    return userInfo().username || 'unknown'
  } catch {
    return 'unknown' // a container may run as a user without a name
  }
}

function withoutAbsent(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Whole seconds of a flag. @throws {ExitError} */
export function seconds(text: string, flag: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw usageError(`${flag} ${text}: must be a duration of at most 24h such as 90s, 15m or 1h`)
  return Math.ceil(ms / 1_000)
}

/** Unix seconds of `2026-11-28T12:00:00Z`, or of a number of them. @throws {ExitError} */
export function moment(text: string, flag: string): number {
  const time = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1_000
  if (Number.isNaN(time))
    throw usageError(`${flag} ${text}: must be a time such as 2026-11-28T12:00:00Z, or Unix seconds`)
  return time
}
