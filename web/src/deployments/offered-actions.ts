import type { TaskRecord } from '../../../contract/task.ts'

export type ActionName = 'cancel' | 'back' | 'again'

/** What a task offers: never to go back to what runs, nor to deploy over the task that took its place. */
export function offeredActions(task: TaskRecord): readonly ActionName[] {
  const { status, cause, previous, deployed_since: deployedSince } = task
  if (status === 'in progress') return ['cancel']
  if (status === 'deployed') return isRunning(task) ? [] : ['back']
  if (cause === 'superseded') return []
  const isBroken = status === 'failed' || status === 'aborted' || isLeftInGit(task)
  return isBroken && previous !== undefined && deployedSince === undefined ? ['back', 'again'] : ['again']
}

/** Whether Argo CD goes on to roll it out, though it is cancelled: its commit stays on the branch. */
export const isLeftInGit = ({ status, cause, commit }: TaskRecord): boolean =>
  status === 'cancelled' && cause !== 'superseded' && commit !== undefined

/** Whether nothing came after a deployed task, or the same images were deployed again. */
function isRunning({ images, newest_since: newest }: TaskRecord): boolean {
  if (newest === undefined) return true
  return newest.status === 'deployed' && referencesOf(newest.images) === referencesOf(images)
}

const referencesOf = (images: TaskRecord['images']) =>
  images
    .map(({ image, tag }) => `${image}:${tag}`)
    .toSorted()
    .join(' ')
