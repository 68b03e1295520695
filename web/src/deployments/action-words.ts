import type { TaskRecord } from '../../../contract/task.ts'

/** What is asked before a task is changed; `keep` is the button that changes nothing. */
export type Question = {
  readonly title: string
  readonly text: string
  readonly keep: string
  /** Another answer than the action itself. */
  readonly other?: string
}

/** What images are called on a button; `others` where they have several tags. */
export const versionName = (images: TaskRecord['images'], others = 'the version before'): string =>
  new Set(images.map(({ tag }) => tag)).size === 1 ? (images[0]?.tag ?? '') : others

export function cancelQuestion({ commit, branch, previous }: TaskRecord): Question {
  return {
    title: 'Cancel this deployment?',
    text: `Watching stops and the deployment ends as cancelled. ${whatStays(commit, branch)}`,
    keep: 'Keep watching',
    ...(previous === undefined ? {} : { other: `Cancel and roll back to ${versionName(previous.images)}` }),
  }
}

/** What a cancelled deployment leaves behind in Git. */
export function whatStays(commit: string | undefined, branch: string | undefined): string {
  if (commit === undefined) return 'A commit that has been pushed stays, so Argo CD still rolls it out.'
  return `Commit ${commit.slice(0, 7)} stays${branch === undefined ? '' : ` on ${branch}`}, so Argo CD still rolls it out.`
}

const watched = 'A new deployment commits that version and is watched like any other.'

export function backQuestion(task: TaskRecord, version: string): Question {
  return {
    title: `Roll back to ${version}?`,
    text: `${watched} What was committed since stays in the history.${cancels(task)}`,
    keep: 'Keep this version',
  }
}

export function againQuestion(task: TaskRecord): Question {
  const version = versionName(task.images, 'this version')
  const found = runningVersion(task)
  const again = found === undefined || found.version === version
  return {
    title: `${found === undefined ? '' : `${found.version} ${found.state}. `}Deploy ${again ? `${version} again` : `${version} in its place`}?`,
    text: `${watched}${cancels(task)}`,
    keep: 'Keep what runs',
  }
}

/** What a new task takes the place of, as far as the record tells. */
function runningVersion({ newest_since: newest, deployed_since: since, previous }: TaskRecord) {
  const another = 'Another version'
  if (newest?.status === 'in progress')
    return { version: versionName(newest.images, another), state: 'is being deployed' }
  const last = since ?? previous
  if (last === undefined) return undefined
  const isRunning = since !== undefined && since.id === newest?.id
  return { version: versionName(last.images, another), state: isRunning ? 'runs now' : 'was deployed last' }
}

function cancels({ newest_since: newest }: TaskRecord): string {
  if (newest?.status !== 'in progress') return ''
  return ` It cancels ${versionName(newest.images, 'the deployment')}, which is in progress.`
}
