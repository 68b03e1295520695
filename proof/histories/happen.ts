import type { DeliveryController } from '../../simulator/model/delivery-controller.ts'
import { manifestKey } from '../../simulator/model/manifest.ts'
import type { ExampleApplication } from './example-application.ts'
import type { ClockSide } from './history-clock.ts'
import type { HistoryGit } from './history-git.ts'
import type { Happening } from './history-script.ts'

type World = {
  readonly applications: readonly ExampleApplication[]
  readonly controller: DeliveryController
  readonly git: HistoryGit
  readonly clock: ClockSide
}

/** Does to the world what people and clusters do. */
export function happen(happening: Happening, { applications, controller, git, clock }: World): void {
  const application = applications[happening.app % applications.length]
  if (application === undefined) return
  const { name, repository } = application
  const key = { namespace: controller.namespace, name }
  const text = `${key.namespace}/${name}`
  const after = (ms: number, run: () => void) => void clock.setTimer(ms, run)

  switch (happening.kind) {
    case 'rival-tag':
      git.setTags(application, { ...git.tagsOf(application), main: happening.tag })
      return
    case 'rival-worker-tag':
      git.setTags(application, { ...git.tagsOf(application), worker: happening.tag })
      return
    case 'rival-change':
      git.changeSomething(repository)
      return
    case 'sync-by-hand':
      void syncByHand(controller, key)
      return
    case 'webhook':
      controller.annotateRefresh(key, 'normal')
      return
    case 'terminate':
      controller.terminate(key)
      return
    case 'promote':
    case 'abort':
      controller.managedAt(key)?.cluster.decideRollout(name, happening.kind === 'promote' ? 'promoted' : 'aborted')
      return
    case 'edit-live':
      editLive(controller, key, application, happening.tag)
      return
    case 'delete-live':
      controller.managedAt(key)?.cluster.remove(`apps/Deployment/${name}/${name}`)
      return
    case 'run-cron-job':
      controller.managedAt(key)?.cluster.runCronJob(`batch/CronJob/${name}/${name}`)
      return
    case 'delete':
      void controller.deleteApplication(key)
      if (happening.backAfterMs !== undefined) after(happening.backAfterMs, () => void create(controller, application))
      return
    case 'pods-behave':
      controller.overridePods(key, { newPods: happening.behaviour })
      after(happening.forMs, () => controller.overridePods(key, undefined))
      return
    case 'sync-fails':
      controller.faults.failSync.set(text, 'admission webhook denied the request')
      after(happening.forMs, () => controller.faults.failSync.delete(text))
      return
    case 'repository-error':
      controller.faults.repositoryErrors.set(repository, 'connection refused')
      after(happening.forMs, () => controller.faults.repositoryErrors.delete(repository))
      return
    case 'broken-override': {
      const tags = git.tagsOf(application)
      git.breakFile(application)
      after(happening.forMs, () => void git.setTags(application, tags))
      return
    }
    case 'window-closed': {
      const deny = { kind: 'deny', schedule: '* * * * *', duration: '1h', manualSync: false, isActive: true } as const
      controller.setSyncWindows('default', [deny])
      after(happening.forMs, () => controller.setSyncWindows('default', []))
    }
  }
}

/** As `kubectl set image` does, past Git. */
function editLive(
  controller: DeliveryController,
  key: { namespace: string; name: string },
  { images }: ExampleApplication,
  tag: string,
): void {
  const managed = controller.managedAt(key)
  for (const { manifest, isDeleting } of managed?.cluster.list() ?? []) {
    if (isDeleting || manifest.hook !== undefined) continue
    const containers = manifest.containers.map((container) =>
      container.image.startsWith(`${images.main}:`) ? { ...container, image: `${images.main}:${tag}` } : container,
    )
    const edited = { ...manifest, containers }
    managed?.observed.set(manifestKey(edited), edited)
    managed?.cluster.apply(edited)
  }
}

/** As a person does who sees that nothing happens: at the newest commit, once nothing runs. */
async function syncByHand(controller: DeliveryController, key: { namespace: string; name: string }): Promise<void> {
  const application = controller.store.get(key)
  if (application === undefined || application.operation !== undefined) return
  const resolved = await controller.resolve(application.spec)
  if (resolved.kind !== 'revisions' || controller.store.get(key)?.operation !== undefined) return
  controller.requestSync(key, { username: 'ada', revisions: resolved.revisions, prune: true, dryRun: false })
}

/** A re-created application starts from nothing, unless the former one is still going. */
async function create(controller: DeliveryController, { spec }: ExampleApplication): Promise<void> {
  const key = { namespace: controller.namespace, name: spec.name }
  if (controller.store.get(key) === undefined) await controller.createApplication({ ...spec, start: 'empty' })
}
