import { describe, expect, test } from 'vitest'
import type { TaskEvent } from '../../contract/task-event.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import { checkHistory } from './check-history.ts'
import type { Operation } from './client-history.ts'
import type { Commit, Evidence, TaskRow } from './evidence.ts'
import type { TaskChange } from './observe-tasks.ts'
import { planHistory } from './plan-history.ts'

const at = (ms: number) => new Date(1_000_000 + ms)
const file = 'apps/shop/.argocd-source-shop.yaml'
const [oldSha = '', newSha = ''] = ['a', 'b'].map((letter) => letter.repeat(40))

const older: TaskRow = {
  id: 'older',
  app: 'shop',
  author: 'author-0',
  tag: 'v1',
  may_write: true,
  status: 'cancelled',
  cause: 'superseded',
  status_reason: 'superseded by task newer',
  timeout_seconds: 4,
  created: at(0),
  updated: at(1_000),
  commit: oldSha,
  write_state: 'landed',
}
const newer: TaskRow = {
  ...older,
  id: 'newer',
  author: 'author-1',
  tag: 'v2',
  status: 'deployed',
  cause: null,
  status_reason: null,
  created: at(1_000),
  updated: at(3_000),
  commit: newSha,
}
const commitOf = ({ id, tag }: TaskRow, sha: string): Commit => ({
  sha,
  message: `deploy\n\nWatcher-Task: ${id}`,
  files: [file],
  text: overrideFile(tag),
  taskId: id,
})
const accepted = ({ id, author, tag, created }: TaskRow, more: Partial<Operation> = {}): Operation => ({
  kind: 'submit',
  replica: 0,
  atMs: +created - 10,
  endedMs: +created + 10,
  outcome: 'ok',
  status: 202,
  text: '',
  submitted: { app: 'shop', tag, author, timeout: 4, credential: 'token', key: `key-of-${tag}` },
  taskId: id,
  ...more,
})
const change = ({ id, created }: TaskRow, more: Partial<TaskChange> = {}): TaskChange => ({
  id,
  status: 'in progress',
  owner: 'one',
  fence: '1',
  updated: created,
  given: id,
  ...more,
})
const event = (id: number, task_id: string, kind: TaskEvent['kind'] = 'verdict'): TaskEvent => ({
  id,
  task_id,
  at: 0,
  kind,
  detail: '',
})
const events = [
  event(1, 'older', 'commit_pushed'),
  event(2, 'older'),
  event(3, 'newer', 'commit_pushed'),
  event(4, 'newer'),
]
const moment = { atMs: +at(2_000), untilMs: +at(9_000), isRolledOut: true } as const

/** A history in which all is well: a task, and a newer one that cancels it and is deployed. */
const good: Evidence = {
  plan: planHistory(1, 'safety'),
  operations: [accepted(older), accepted(newer)],
  tasks: [older, newer],
  changes: [change(older), change(newer), change(newer, { status: 'deployed', updated: newer.updated })],
  lockChanges: [],
  callsInTransactions: [],
  events,
  streamed: events,
  truth: new Map([['shop', [{ ...moment, running: ['registry.example/shop:v2'], appliedRevisions: [newSha] }]]]),
  commits: [commitOf(older, oldSha), commitOf(newer, newSha)],
  tips: [
    { from: '0'.repeat(40), to: oldSha },
    { from: oldSha, to: newSha },
  ],
  gitComplaint: '',
  overrides: new Map([['shop', overrideFile('v2')]]),
  pages: [['newer', 'older']],
  metrics: [{ accepted: 2, watched: 0 }],
  logs: '',
  secrets: ['secret'],
  isCalm: true,
  healedMs: +at(0),
  deaths: 0,
  stops: [{ exitCode: 0, tookMs: 100 }],
  leftProcesses: [],
}

const withTask = (changes: Partial<TaskRow>): Partial<Evidence> => ({ tasks: [older, { ...newer, ...changes }] })
const withOperation = (one: Operation): Partial<Evidence> => ({ operations: [...good.operations, one] })
const lockSet: Operation = { ...accepted(newer), kind: 'lock', endedMs: +at(500), reason: 'lock 1' }

test('a history in which all is well breaks nothing', () => expect(checkHistory(good)).toEqual([]))

describe('the commit of a task that was cancelled while it was pushed', () => {
  const late = { ...newer, status: 'cancelled', cause: 'superseded' } as const
  const newest = {
    ...older,
    id: 'newest',
    status: 'deployed',
    cause: null,
    created: at(1_500),
    write_state: 'unchanged',
  }
  const broken = (changes: Partial<Evidence>) =>
    checkHistory({ ...good, tasks: [older, late, newest], ...changes }).filter((one) => /^I[56]/.test(one))

  test('may be where the branch ends, if no newer task committed', () => {
    expect(broken({})).toEqual([])
    const landed = { ...newest, write_state: 'landed', commit: newSha }
    expect(broken({ tasks: [older, late, landed] })).toHaveLength(1)
  })

  test('has to be told in its record and in its timeline', () => {
    expect(broken({ tasks: [older, { ...late, commit: null }, newest] })).toHaveLength(1)
    expect(broken({ events: good.events.filter(({ kind }) => kind !== 'commit_pushed') })).toHaveLength(2)
  })

  test('is not covered by another one', () => {
    const again = 'c'.repeat(40)
    expect(broken({ commits: [...good.commits, commitOf(older, again)] })).toContain(
      `I5: a second commit ${again} of older`,
    )
  })
})

test('the branch may end at a commit that nobody could learn of before its task was over', () => {
  const unknown = {
    ...newer,
    status: 'failed',
    cause: 'git_unreachable',
    write_state: 'pushing',
    commit: null,
  } as const
  const detail = 'whether the commit arrived is not known: the host cannot be reached'
  const said = [...events.slice(0, 2), { ...event(3, 'newer', 'write_back_skipped'), detail }, event(4, 'newer')]
  const broken = (changes: Partial<Evidence>) =>
    checkHistory({ ...good, tasks: [older, unknown], events: said, ...changes }).filter((one) => /^I[56]/.test(one))
  expect(broken({})).toEqual([])
  expect(broken({ overrides: new Map([['shop', overrideFile('v1')]]) })).toHaveLength(1)
  expect(broken({ events })).toHaveLength(1)
})

describe('what a planted bug leaves behind is called by its name', () => {
  test.for<[sign: string, bug: string, Partial<Evidence>]>([
    ['500', 'a replica hides its fault', withOperation({ ...accepted(newer), outcome: 'info', status: 500 })],
    ['I1', 'an accepted task is lost', { tasks: [older] }],
    ['I1', 'a submission is stored otherwise', withTask({ tag: 'v3' })],
    ['I1', 'a bad credential is accepted', withOperation(accepted(newer, { submitted: submittedBadly() }))],
    ['I2', 'an end is rewritten', { changes: [...good.changes, change(newer, { status: 'failed' })] }],
    ['I2', 'a task has two verdicts', { events: [...good.events, event(5, 'newer')] }],
    ['I3', 'an owner comes without a new fence', { changes: [change(newer), change(newer, { owner: 'two' })] }],
    ['I3', 'a fence falls', { changes: [change(newer), change(newer, { fence: '0' })] }],
    ['I4', 'what is deployed never ran', { truth: new Map() }],
    ['I4', 'what is deployed ran before its commit was applied', { truth: runningAt([oldSha]) }],
    ['I5', 'a task has two commits', { commits: [...good.commits, commitOf(newer, 'c'.repeat(40))] }],
    ['I5', 'a task without authority commits', withTask({ may_write: false })],
    ['I5', 'the record names another commit', withTask({ commit: oldSha })],
    ['I5', 'the timeline leaves the commit out', { events: events.filter(({ kind }) => kind === 'verdict') }],
    ['I6', 'the branch goes back', { tips: [...good.tips, { from: newSha, to: oldSha }] }],
    ['I6', 'the branch ends at an older tag', { overrides: new Map([['shop', overrideFile('v1')]]) }],
    ['I6', 'commits land out of order', outOfOrder()],
    ['I7', 'a commit changes another file', { commits: [{ ...commitOf(older, oldSha), files: ['README.md', file] }] }],
    ['I8', 'a task is accepted under the lock', { ...withOperation(lockSet), lockChanges: [lockedUntil(2_000)[0]] }],
    ['I8', 'the lock was answered and not set', withOperation(lockSet)],
    ['I9', 'a task without authority supersedes one that has it', withTask({ may_write: false })],
    ['I11', 'a counter goes wrong', { metrics: [{ accepted: 3, watched: 0 }] }],
    ['I11', 'a task that ended is still counted as watched', { metrics: [{ accepted: 2, watched: 1 }] }],
    ['I12', 'a page leaves a task out', { pages: [['newer']] }],
    ['I12', 'an accepted task is not found', withOperation({ ...accepted(newer), kind: 'read', status: 404 })],
    ['I13', 'a key is answered with two ids', withOperation(accepted(older, { taskId: 'newer' }))],
    ['I13', 'a key is stored twice', { tasks: [older, newer, { ...newer, id: 'again' }] }],
    ['I14', 'a task never ends', withTask({ status: 'in progress' })],
    ['I14', 'a process is left', { leftProcesses: ['git fetch'] }],
    ['I14', 'a stop takes too long', { stops: [{ exitCode: 0, tookMs: 30_000 }] }],
    ['the stream', 'an event is not told', { streamed: [event(1, 'older')] }],
    ['I15', 'a call is made inside of a transaction', { callsInTransactions: [{ replica: 1, ms: 400 }] }],
    ['I15', 'a secret is logged', { logs: 'the secret is out' }],
  ])('%s: %s', ([sign, , changes]) => {
    expect(checkHistory({ ...good, ...changes }).join('\n')).toContain(sign)
  })

  test('and a task accepted after the lock was released breaks nothing', () => {
    expect(checkHistory({ ...good, ...withOperation(lockSet), lockChanges: lockedUntil(900) })).toEqual([])
  })
})

function submittedBadly(): NonNullable<Operation['submitted']> {
  return { app: 'shop', tag: 'v2', author: 'author-1', timeout: 4, credential: 'bad', key: undefined }
}

function runningAt(appliedRevisions: readonly string[]): Evidence['truth'] {
  return new Map([['shop', [{ ...moment, running: ['registry.example/shop:v2'], appliedRevisions }]]])
}

/** Two tasks of different images, so that neither cancels the other, whose commits come the wrong way round. */
function outOfOrder(): Partial<Evidence> {
  const deployed = { ...older, status: 'failed', cause: null, status_reason: null }
  return {
    tasks: [deployed, newer],
    commits: good.commits.toReversed(),
    overrides: new Map([['shop', overrideFile('v2')]]),
  }
}

function lockedUntil(ms: number): [Evidence['lockChanges'][number], Evidence['lockChanges'][number]] {
  return [
    { isSet: true, reason: 'lock 1', at: at(400) },
    { isSet: false, reason: null, at: at(ms) },
  ]
}
