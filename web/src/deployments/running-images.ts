import type { Pod } from '../../../contract/diagnosis.ts'
import { repositoryOf, splitReference } from '../../../contract/image-name.ts'
import type { TaskRecord } from '../../../contract/task.ts'

export type PodMark = 'ready' | 'failing' | 'starting' | 'old' | 'finished'
type MarkedPod = { readonly pod: Pod; readonly mark: PodMark; readonly version: string }

/** An image that a task requests, and what runs of it as far as the record tells. */
type RunningImage = {
  readonly image: string
  readonly requested: string
  readonly running: readonly string[]
  /** Those of the requested version first. */
  readonly pods: readonly MarkedPod[]
}

/** What Kubernetes calls a Pod that has done its work. */
const finishedStates = ['Completed', 'Succeeded']
const markOrder: readonly PodMark[] = ['failing', 'starting', 'ready', 'finished', 'old']

/** Requested against running: of an unfinished task by its Pods, of an ended one by the evidence of its verdict. */
export function runningImages(task: TaskRecord): readonly RunningImage[] {
  const { diagnosis } = task
  const evidence = diagnosis?.evidence.find((one) => one.kind === 'images')
  return task.images.map(({ image, tag }) => {
    const pods = (diagnosis?.pods ?? [])
      .filter((pod) => isOf(image, pod.image))
      .map((pod) => {
        const { version } = splitReference(pod.image)
        return { pod, version, mark: markOf(pod, version === tag, diagnosis?.culprit?.name) }
      })
    const found = (evidence?.found ?? []).filter((reference) => isOf(image, reference))
    const versions =
      pods.length > 0
        ? pods.filter(({ mark }) => mark !== 'finished').map(({ version }) => version)
        : found.map((reference) => splitReference(reference).version)
    return {
      image,
      requested: tag,
      running: task.status === 'deployed' ? [tag] : [...new Set(versions)].toSorted(first(tag)),
      pods: pods.toSorted((one, other) => markOrder.indexOf(one.mark) - markOrder.indexOf(other.mark)),
    }
  })
}

/** The Pods of all requested images, once each. */
export function podsOf(task: TaskRecord): readonly MarkedPod[] {
  const all = runningImages(task).flatMap(({ pods }) => pods)
  return [...new Map(all.map((one) => [`${one.pod.namespace}/${one.pod.name}`, one] as const)).values()]
}

const first = (wanted: string) => (one: string, other: string) => Number(other === wanted) - Number(one === wanted)

/** A mirror puts its own name before that of the repository. */
function isOf(image: string, reference: string): boolean {
  const [wanted, found] = [repositoryOf(image), repositoryOf(splitReference(reference).name)]
  return found === wanted || found.endsWith(`/${wanted}`)
}

function markOf({ name, ready, state }: Pod, isRequested: boolean, culprit: string | undefined): PodMark {
  if (finishedStates.includes(state)) return 'finished'
  if (!isRequested) return 'old'
  if (ready) return 'ready'
  return name === culprit ? 'failing' : 'starting'
}

/** `2 ready, 2 starting, 3 old` */
export function countMarks(pods: readonly { readonly mark: PodMark }[]): string {
  const order: readonly PodMark[] = ['ready', 'failing', 'starting', 'finished', 'old']
  return order
    .map((mark) => ({ mark, count: pods.filter((one) => one.mark === mark).length }))
    .filter(({ count }) => count > 0)
    .map(({ mark, count }) => `${count} ${mark}`)
    .join(', ')
}
