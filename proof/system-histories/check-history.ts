import { isFinal, taskStatuses } from '../../contract/task-status.ts'
import type { Commit, Evidence, TaskRow } from './evidence.ts'
import type { TaskChange } from './observe-tasks.ts'

const slackMs = 1_000
const sameMomentMs = 20
const afterWindowMs = 10_000
const stopLimitMs = 25_000
/** What a timeline says where the Git host stayed away until the deadline. */
const notKnown = 'whether the commit arrived is not known'

/** The invariants that a history broke, each as a sentence; none is the only good answer. */
export function checkHistory(evidence: Evidence): readonly string[] {
  return [
    ...answers(evidence),
    ...accepted(evidence),
    ...statuses(evidence),
    ...ownership(evidence),
    ...verdicts(evidence),
    ...commitsOfTasks(evidence),
    ...branch(evidence),
    ...files(evidence),
    ...lock(evidence),
    ...authority(evidence),
    ...metrics(evidence),
    ...reads(evidence),
    ...keys(evidence),
    ...liveness(evidence),
    ...stream(evidence),
    ...transactions(evidence),
    ...secrets(evidence),
  ]
}

/** No fault of a dependency is an internal error of the service. */
function* answers({ operations }: Evidence) {
  for (const { kind, status, replica, text } of operations) {
    if (status === 500) yield `replica ${replica} answered ${kind} with 500: ${text}`
  }
}

/** I1: every accepted task exists, as it was submitted, and that never changes. A bad credential is never accepted. */
function* accepted({ operations, tasks, changes }: Evidence) {
  const stored = new Map(tasks.map((task) => [task.id, task]))
  for (const { taskId, submitted, status } of operations) {
    if (submitted === undefined) continue
    if (submitted.credential === 'bad' && status === 202) yield `I1: a bad credential was accepted as ${taskId}`
    if (taskId === undefined) continue
    const task = stored.get(taskId)
    const isSame =
      task?.app === submitted.app &&
      task.tag === submitted.tag &&
      task.author === submitted.author &&
      task.may_write === (submitted.credential === 'token')
    if (!isSame) yield `I1: ${taskId} was accepted as ${JSON.stringify(submitted)} and is ${JSON.stringify(task)}`
  }
  for (const [id, versions] of byTask(changes)) {
    if (new Set(versions.map(({ given }) => given)).size > 1) yield `I1: what was submitted as ${id} changed`
  }
}

/** I2: one end, never rewritten, seen by all readers; `updated` never goes back; one verdict in the timeline. */
function* statuses({ changes, operations, tasks, events }: Evidence) {
  for (const [id, versions] of byTask(changes)) {
    for (const [at, { status, updated }] of versions.entries()) {
      const before = versions[at - 1]
      if (before === undefined) continue
      if (before.status !== 'in progress' && before.status !== status) {
        yield `I2: the end of ${id} was rewritten from ${before.status} to ${status}`
      }
      if (updated < before.updated) yield `I2: updated of ${id} went back by ${+before.updated - +updated} ms`
    }
  }
  const ends = new Map(tasks.map(({ id, status }) => [id, status]))
  for (const { seen } of operations) {
    if (seen !== undefined && isFinal(seen.status) && ends.get(seen.id) !== seen.status) {
      yield `I2: ${seen.id} was shown as ${seen.status} and is ${ends.get(seen.id)}`
    }
  }
  for (const { id, status } of tasks) {
    if (!taskStatuses.some((known) => known === status)) yield `I2: ${id} has the status ${status}`
    const verdicts = events.filter(({ task_id, kind }) => task_id === id && kind === 'verdict').length
    if (verdicts !== (status === 'in progress' ? 0 : 1)) yield `I2: ${id} is ${status} and has ${verdicts} verdicts`
  }
}

/** I3: a new owner has a higher fence, and no fence falls. */
function* ownership({ changes }: Evidence) {
  for (const [id, versions] of byTask(changes)) {
    for (const [at, { owner, fence }] of versions.entries()) {
      const before = versions[at - 1]
      if (before === undefined) continue
      if (Number(fence) < Number(before.fence)) yield `I3: the fence of ${id} fell to ${fence}`
      if (owner !== before.owner && owner !== null && fence === before.fence) {
        yield `I3: ${id} changed hands at the fence ${fence}`
      }
    }
  }
}

/** I4: what is called deployed really ran, synced to its commit or a later one, between acceptance and verdict. */
function* verdicts({ tasks, truth, commits }: Evidence) {
  const place = new Map(commits.map(({ sha }, at) => [sha, at]))
  for (const { id, app, tag, status, created, updated, commit } of tasks) {
    if (status !== 'deployed') continue
    const ran = (truth.get(app) ?? []).filter(
      ({ atMs, untilMs, running, isRolledOut }) =>
        isRolledOut &&
        running.includes(`registry.example/${app}:${tag}`) &&
        untilMs >= +created - slackMs &&
        atMs <= +updated + slackMs,
    )
    if (ran.length === 0) yield `I4: ${id} was called deployed, but ${app}:${tag} never ran`
    const wanted = lastChangeOf(app, commits, commit)
    const isSynced = ran.some(({ appliedRevisions: [applied = ''] }) => (place.get(applied) ?? -1) >= wanted)
    if (ran.length > 0 && !isSynced) yield `I4: ${id} was called deployed, but its commit ${commit} was never applied`
  }
}

/** Where the commit stands that last changed the application as of `sha`: what changes others only is not applied anew. */
function lastChangeOf(app: string, commits: readonly Commit[], sha: string | null): number {
  const upTo = commits.slice(0, commits.findIndex((commit) => commit.sha === sha) + 1)
  return upTo.findLastIndex(({ files }) => files.some((file) => file.startsWith(`apps/${app}/`)))
}

/** I5: one commit at most for each task, none without authority, and its record and timeline tell of it. */
function* commitsOfTasks({ tasks, commits, events }: Evidence) {
  const stored = new Map(tasks.map((task) => [task.id, task]))
  for (const [at, { taskId, sha }] of commits.entries()) {
    if (taskId === undefined) continue
    const task = stored.get(taskId)
    if (!task?.may_write) yield `I5: commit ${sha} of ${taskId}, which may not write`
    const isFirst = commits.findIndex((commit) => commit.taskId === taskId) === at
    if (!isFirst) yield `I5: a second commit ${sha} of ${taskId}`
  }
  for (const { id, status, commit, may_write, write_state } of tasks) {
    const own = commits.filter(({ taskId }) => taskId === id)
    // Where the Git host stayed away until the deadline, the timeline says that nothing is known.
    const isSettled = !events.some(({ task_id, detail }) => task_id === id && detail.includes(notKnown))
    if (own.length > 0 && isSettled && !own.some(({ sha }) => sha === commit)) {
      yield `I5: ${id} has the commit ${own[0]?.sha} on the branch and ${commit} in its record (${write_state})`
    }
    const isTold = events.some(({ task_id, kind }) => task_id === id && kind === 'commit_pushed')
    if (own.length > 0 && isSettled && !isTold) yield `I5: the timeline of ${id} does not tell of its commit`
    const hadNothingToCommit = write_state === 'unchanged' // the commit that set its tag is shown if it is found
    if (status === 'deployed' && may_write && commit === null && !hadNothingToCommit)
      yield `I5: ${id} was deployed without its commit`
    if (commit !== null && !commits.some(({ sha }) => sha === commit)) {
      yield `I5: the recorded commit ${commit} of ${id} is not on the branch`
    }
  }
}

/** I6: the branch only grows, rivals' commits remain, and it ends at the newest tag unless a rival wrote later. */
function* branch({ commits, tips, tasks, overrides, gitComplaint }: Evidence) {
  if (gitComplaint.trim() !== '') yield `I6: git fsck says ${gitComplaint.trim()}`
  const place = new Map(commits.map(({ sha }, at) => [sha, at]))
  for (const { from, to } of tips) {
    const [before, after] = [place.get(from), place.get(to)]
    const isFirst = /^0+$/.test(from)
    if (after === undefined || (!isFirst && (before === undefined || before >= after))) {
      yield `I6: the branch went from ${from} to ${to}, which is not forward`
    }
  }
  for (const [app, text] of overrides) {
    const file = `apps/${app}/.argocd-source-${app}.yaml`
    const ofApp = tasks.filter((task) => task.app === app && task.may_write)
    // A commit may be there although nobody could learn of it before its task was over.
    const isThere = ({ id, write_state }: TaskRow) =>
      write_state === 'landed' || write_state === 'unchanged' || commits.some(({ taskId }) => taskId === id)
    const last = commits.findLast((commit) => commit.files.includes(file))
    const cancelled = ofApp.find(({ id, status }) => id === last?.taskId && status === 'cancelled')
    const newest = cancelledWhilePushed(cancelled, ofApp) ?? ofApp.findLast(isThere)
    if (newest === undefined || last?.message.startsWith('rival')) continue
    if (!text.includes(`value: "${newest.tag}"`))
      yield `I6: ${app} ends at ${text}, not at ${newest.tag} of ${newest.id}`
    yield* order(app, ofApp, commits)
  }
}

/** The commit of a task that was cancelled inside its last network write stays, where no newer one committed after it. */
function cancelledWhilePushed(cancelled: TaskRow | undefined, ofApp: readonly TaskRow[]): TaskRow | undefined {
  const newer = cancelled === undefined ? [] : ofApp.slice(ofApp.indexOf(cancelled) + 1)
  return newer.some(({ write_state }) => write_state === 'landed') ? undefined : cancelled
}

function* order(app: string, tasks: readonly TaskRow[], commits: readonly Commit[]) {
  const accepted = new Map(tasks.map(({ id }, at) => [id, at]))
  const landed = commits.flatMap(({ taskId }) => (taskId === undefined ? [] : (accepted.get(taskId) ?? [])))
  const firsts = landed.filter((place, at) => landed.indexOf(place) === at)
  if (firsts.some((place, at) => place < (firsts[at - 1] ?? -1))) yield `I6: commits of ${app} landed out of order`
}

/** I7: a commit changes its application's override file alone, and what others wrote in it stays. */
function* files({ tasks, commits }: Evidence) {
  const stored = new Map(tasks.map((task) => [task.id, task]))
  for (const [at, { taskId, sha, files: changed, text }] of commits.entries()) {
    const app = taskId === undefined ? undefined : stored.get(taskId)?.app
    if (app === undefined) continue
    const file = `apps/${app}/.argocd-source-${app}.yaml`
    if (changed.join() !== file) yield `I7: commit ${sha} of ${app} changed ${changed.join()}`
    const before = commits.slice(0, at).findLast((commit) => commit.files.includes(file))?.text ?? ''
    const comment = /^# by hand.*$/m.exec(before)?.[0]
    if (comment !== undefined && !text.includes(comment)) yield `I7: commit ${sha} lost "${comment}"`
  }
}

/** I8: nothing is accepted from the answer that set the lock until the lock is released. */
function* lock({ operations, lockChanges, tasks }: Evidence) {
  for (const { kind, outcome, reason, endedMs } of operations) {
    if (kind !== 'lock' || outcome !== 'ok') continue
    const set = lockChanges.findIndex((change) => change.reason === reason)
    if (set === -1) yield `I8: the lock "${reason}" was answered and never set`
    const releasedMs = Number(lockChanges.slice(set).find(({ isSet }) => !isSet)?.at ?? Number.POSITIVE_INFINITY)
    for (const { id, created } of tasks) {
      // Of tasks accepted in one millisecond each bears a later one.
      if (+created > endedMs + sameMomentMs && +created < releasedMs) yield `I8: ${id} was accepted under "${reason}"`
    }
  }
}

/** I9: no task without authority cancels one that has it, nor does a caller without a good credential. */
function* authority({ tasks, operations }: Evidence) {
  const stored = new Map(tasks.map((task) => [task.id, task]))
  for (const { id, cause, may_write, status_reason } of tasks) {
    if (cause !== 'superseded' || status_reason?.startsWith('superseded in Git')) continue // a rival did that
    const by = /^superseded by task (\S+)/.exec(status_reason ?? '')?.[1]
    const newer = by === undefined ? undefined : stored.get(by)
    if (newer === undefined) yield `I9: ${id} was superseded by ${by}, which does not exist`
    else if (may_write && !newer.may_write) yield `I9: ${id} was superseded by ${by}, which may not write`
  }
  for (const { kind, taskId, outcome, status, credential } of operations) {
    if (kind === 'cancel' && outcome === 'ok' && credential !== 'token')
      yield `I9: ${taskId} was cancelled with ${status}`
  }
}

/** I11: what the replicas count agrees with the rows; counters start again with their process. */
function* metrics({ metrics: counts, tasks, deaths, operations }: Evidence) {
  const watched = counts.reduce((sum, count) => sum + count.watched, 0)
  const live = tasks.filter(({ status }) => status === 'in progress').length
  if (watched !== live) yield `I11: ${watched} tasks are watched, ${live} are in progress`
  const total = counts.reduce((sum, count) => sum + count.accepted, 0)
  const isUnclear = deaths > 0 || operations.some(({ kind, outcome }) => kind === 'submit' && outcome === 'info')
  if (isUnclear ? total > tasks.length : total !== tasks.length) yield `I11: ${total} accepted, ${tasks.length} stored`
}

/** I12: an accepted task is never missing, and the pages of the list hold every task once, newest first. */
function* reads({ operations, pages, tasks }: Evidence) {
  for (const { kind, taskId, status, replica } of operations) {
    if (kind === 'read' && status === 404) yield `I12: ${taskId} was not found on replica ${replica}`
  }
  const newestFirst = tasks.map(({ id }) => id).toReversed()
  for (const [replica, ids] of pages.entries()) {
    if (ids.join() !== newestFirst.join()) yield `I12: the pages of replica ${replica} are not the tasks, newest first`
  }
}

/** I13: an Idempotency-Key stands for one task, however often and with whatever body it is sent. */
function* keys({ operations, tasks }: Evidence) {
  for (const [key, uses] of Map.groupBy(operations, ({ submitted }) => submitted?.key)) {
    if (key === undefined) continue
    const ids = new Set(uses.flatMap(({ taskId }) => taskId ?? []))
    if (ids.size > 1) yield `I13: "${key}" was answered with ${[...ids].join()}`
    const stored = tasks.filter(({ author }) => author === uses[0]?.submitted?.author)
    if (stored.length > 1) yield `I13: "${key}" is stored as ${stored.map(({ id }) => id).join()}`
  }
}

/** I14: after the heal everything ends in time, and nothing is left behind. */
function* liveness({ isCalm, tasks, healedMs, stops, leftProcesses, deaths }: Evidence) {
  if (!isCalm) yield 'I14: something is still open after the window and ten seconds'
  for (const { id, status, created, updated, timeout_seconds } of tasks) {
    if (status === 'in progress') yield `I14: ${id} has not ended`
    const limitMs = Math.max(+created, healedMs) + timeout_seconds * 1_000 + afterWindowMs
    if (+updated > limitMs) yield `I14: ${id} ended ${+updated - limitMs} ms too late`
  }
  for (const { exitCode, tookMs } of stops) {
    if (exitCode !== 0 || tookMs > stopLimitMs) yield `I14: a stop took ${Math.round(tookMs)} ms and gave ${exitCode}`
  }
  // The kept SSH connection of a killed process ends by itself, a minute after its last use.
  for (const line of leftProcesses.filter((one) => deaths === 0 || !one.includes('[mux]')))
    yield `I14: left running: ${line}`
}

/** The stream tells every event once, in the order of the ids, over all replicas that a reader came by. */
function* stream({ events, streamed }: Evidence) {
  const told = streamed.map(({ id }) => id)
  const stored = events.map(({ id }) => id)
  if (stored.some((id, at) => id !== at + 1)) yield 'the ids of the events have gaps'
  if (told.join() !== stored.join()) {
    const missing = stored.filter((id) => !told.includes(id))
    yield `the stream told ${told.length} of ${stored.length} events, missing ${missing.slice(0, 5).join()}`
  }
}

/** I15: nobody outside is asked while a transaction is open. */
function* transactions({ callsInTransactions }: Evidence) {
  for (const { replica, ms } of callsInTransactions)
    yield `I15: replica ${replica} left a transaction open for ${ms} ms, in which a call was made`
}

/** I15: no secret in a log line, an answer, a reason, an event or a commit. */
function* secrets({ secrets: hidden, logs, operations, events, tasks, commits }: Evidence) {
  const places = {
    logs,
    answers: operations.map(({ text }) => text).join('\n'),
    events: events.map(({ detail }) => detail).join('\n'),
    reasons: tasks.map(({ status_reason }) => status_reason).join('\n'),
    commits: commits.map(({ message, text }) => message + text).join('\n'),
  }
  for (const [place, text] of Object.entries(places)) {
    for (const secret of hidden) if (text.includes(secret)) yield `I15: a secret is in the ${place}`
  }
}

function byTask(changes: readonly TaskChange[]): ReadonlyMap<string, readonly TaskChange[]> {
  return Map.groupBy(changes, ({ id }) => id)
}
