import { type Application, type Hydration, keyOf, type Source } from './application.ts'
import { kubernetesTime, wait } from './clock.ts'
import { type ControllerContext, controllerNow } from './controller-context.ts'
import type { ManagedApplication, RefreshLevel } from './managed-application.ts'
import type { Manifest } from './manifest.ts'
import { pickFrom } from './random.ts'
import { renderTarget } from './resolve-target.ts'

const hydratedFile = 'workloads.yaml'

type Hydrated = { readonly drySha: string; readonly hydratedSha: string; readonly isNew: boolean }

/** Renders the newest dry commit of an application and pushes the result to its sync branch, beside all other work. */
export async function hydrate(
  context: ControllerContext,
  managed: ManagedApplication,
  level: RefreshLevel,
): Promise<void> {
  const application = context.read(managed.key)
  const { sourceHydrator } = application?.spec ?? {}
  if (!application || !sourceHydrator || !context.commit) return
  const dry = await context.lsRemote.resolve(
    sourceHydrator.drySource.repoURL,
    sourceHydrator.drySource.targetRevision ?? '',
    level,
  )
  const known = application.status.sourceHydrator
  const isDone = dry.kind === 'commit' && dry.sha === comparedDry(known) && known.currentOperation?.phase !== 'Failed'
  if (isDone || managed.isHydrating) return
  managed.isHydrating = true
  const isWell = await runHydration(context, managed, application)
  managed.isHydrating = false
  if (isWell) await hydrate(context, managed, 2) // a commit may have come meanwhile
}

const comparedDry = ({ lastComparedDryRevision, lastSuccessfulOperation }: Hydration) =>
  lastComparedDryRevision ?? lastSuccessfulOperation?.drySHA

async function runHydration(
  context: ControllerContext,
  managed: ManagedApplication,
  application: Application,
): Promise<boolean> {
  const { clock, random, times, faults } = context
  const key = keyOf(managed.key)
  const before = application.status.sourceHydrator
  const operation = {
    sourceHydrator: application.spec.sourceHydrator,
    startedAt: kubernetesTime(controllerNow(context)),
  }
  write(context, managed, (known) => ({ ...known, currentOperation: { ...operation, phase: 'Hydrating' } }))
  await wait(clock, pickFrom(random, times().refresh))
  while (faults.hangHydration.has(key) && !managed.isGone) await wait(clock, times().step[1])
  if (managed.isGone) return false
  const failure = faults.failHydration.get(key)
  const result = failure ?? (await pushHydrated(context, application))
  const finishedAt = kubernetesTime(controllerNow(context))
  if (typeof result === 'string') {
    const failed = { ...operation, phase: 'Failed', message: result, finishedAt } as const
    write(context, managed, (known) => ({ ...known, currentOperation: failed }))
    return false
  }
  write(context, managed, (known) => ({
    ...withHydrated(known, application, result, operation.startedAt, finishedAt),
    // A commit that changes nothing leaves the last operation as it was.
    ...(result.isNew ? {} : { currentOperation: before.currentOperation }),
  }))
  if (result.isNew) context.requestRefresh(managed, 3)
  return true
}

function write(context: ControllerContext, { key }: ManagedApplication, change: (known: Hydration) => Hydration): void {
  context.store.update(key, (current) => ({
    ...current,
    status: { ...current.status, sourceHydrator: change(current.status.sourceHydrator) },
  }))
}

function withHydrated(
  known: Hydration,
  { spec: { sourceHydrator } }: Pick<Application, 'spec'>,
  { drySha, hydratedSha, isNew }: Hydrated,
  startedAt: string,
  finishedAt: string,
): Hydration {
  const done = { drySHA: drySha, hydratedSHA: hydratedSha, sourceHydrator }
  const operations: Hydration = {
    lastSuccessfulOperation: done,
    currentOperation: { ...done, phase: 'Hydrated', startedAt, finishedAt },
  }
  return { ...known, ...(isNew ? operations : {}), lastComparedDryRevision: drySha }
}

/** What the status of an application says whose sync branch has been hydrated for long. */
export async function settleHydration(
  context: ControllerContext,
  application: Application,
  at: string,
): Promise<Hydration> {
  if (application.spec.sourceHydrator === undefined) return {}
  const result = await pushHydrated(context, application)
  if (typeof result === 'string') return { currentOperation: { phase: 'Failed', message: result, startedAt: at } }
  return withHydrated({}, application, { ...result, isNew: true }, at, at)
}

/** @returns the text of a failure, where the dry commit cannot be rendered */
async function pushHydrated(context: ControllerContext, application: Application): Promise<Hydrated | string> {
  const { git, commit } = context
  const { drySource, syncSource } = application.spec.sourceHydrator ?? {}
  if (!drySource || !syncSource || !commit) return 'the hydrator is not enabled'
  const dry = await git.resolve(drySource.repoURL, drySource.targetRevision ?? '')
  if (dry.kind === 'error') return dry.message
  const rendering = context.renderingOf(application)
  const target = await renderTarget(git, { ...rendering, spec: drySpec(application, drySource) }, [dry.sha])
  if (!target.manifests) return target.failure ?? ''
  const text = `${JSON.stringify({ workloads: target.manifests.map(workloadOf) }, undefined, 2)}\n`
  const synced = await git.resolve(drySource.repoURL, syncSource.targetBranch)
  const tip = synced.kind === 'commit' ? synced.sha : undefined
  const files = tip === undefined ? undefined : await git.filesAt(drySource.repoURL, tip, syncSource.path)
  if (tip !== undefined && files?.get(hydratedFile) === text) return { drySha: dry.sha, hydratedSha: tip, isNew: false }
  const changes = { [`${syncSource.path}/${hydratedFile}`]: text }
  const message = `${dry.sha.slice(0, 7)}: hydrated`
  const hydratedSha = await commit(drySource.repoURL, syncSource.targetBranch, changes, message)
  return { drySha: dry.sha, hydratedSha, isNew: true }
}

function drySpec({ spec }: Application, source: Source): Application['spec'] {
  return { ...spec, sourceHydrator: undefined, sources: undefined, source }
}

/** The entry of `workloads.yaml` that is read as this manifest. */
function workloadOf({ namespace: _, ...manifest }: Manifest) {
  return manifest
}
