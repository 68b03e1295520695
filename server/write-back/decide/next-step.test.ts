import { describe, expect, test } from 'vitest'
import { GitError, type GitFailure } from '../git/access/git-error.ts'
import { type BranchMemory, newMemory, type OpenWrite, type Outcome, remember } from './branch-memory.ts'
import { isTooLate, nextStep, type Step } from './next-step.ts'

const nowMs = 1_000_000
const base = 'a'.repeat(40)
const moved = 'b'.repeat(40)

function aWrite(taskId: string, change: Partial<OpenWrite & { file: string; branch: string }> = {}): OpenWrite {
  const { file = `${taskId}.yaml`, branch = 'main', ...rest } = change
  return {
    taskId,
    plan: {
      app: taskId,
      repository: 'git@h:r',
      address: 'git@h:r',
      branch,
      file,
      tool: 'helm',
      entries: [],
      sourceEntries: [],
      message: 'm',
    },
    state: 'queued',
    base: undefined,
    lastReason: undefined,
    isWanted: true,
    secondsLeft: 60,
    waitedSeconds: 1,
    ...rest,
  }
}

const queued = (count: number) => Array.from({ length: count }, (_, at) => aWrite(`${at}`))
const sent = (taskId: string, change: Parameters<typeof aWrite>[1] = {}) =>
  aWrite(taskId, { state: 'pushing', base, ...change })
const [one, other] = [aWrite('one'), aWrite('other')]

const landed = (...writes: readonly OpenWrite[]): Outcome => ({ kind: 'landed', writes })
const lostRace = (...writes: readonly OpenWrite[]): Outcome => ({ kind: 'lost_race', writes })
const unanswered = (...writes: readonly OpenWrite[]): Outcome => ({ kind: 'unanswered', writes, reason: 'no answer' })
const refused = (reason: string, ...writes: readonly OpenWrite[]): Outcome => ({ kind: 'refused', writes, reason })
const resolved = (tip: string, isOpen = false): Outcome => ({ kind: 'resolved', tip, isOpen })
const waited: Outcome = { kind: 'waited' }

type FailedExample = { readonly forSeconds?: number; readonly wasMoving?: boolean; readonly writes?: OpenWrite[] }
const failed = (
  code: GitFailure,
  { forSeconds = 1, wasMoving = false, writes = [one] }: FailedExample = {},
): Extract<Outcome, { kind: 'failed' }> => ({
  kind: 'failed',
  error: new GitError(code, `words of ${code}`),
  writes,
  readAtMs: nowMs - forSeconds * 1_000,
  failedAtMs: nowMs,
  wasMoving,
})
const kept = (code: GitFailure, example: FailedExample): Outcome[] => [
  failed(code, example),
  { kind: 'kept', failed: failed(code, example) },
]

type Row = {
  readonly says: string
  readonly open: readonly OpenWrite[]
  /** Outcomes of the steps before. */
  readonly after?: readonly Outcome[]
  /** Since the last of them. */
  readonly laterMs?: number
  readonly branch?: string
  readonly does: string
}

/** A step in words, such as `push one, other`. */
function worded(step: Step): string {
  switch (step.kind) {
    case 'end':
      return step.results
        .map(({ taskId, outcome }) =>
          outcome.kind === 'refused'
            ? `end ${taskId}: ${outcome.cause}, ${outcome.reason}`
            : `end ${taskId}: ${outcome.kind}`,
        )
        .join('; ')
    case 'push':
      return `push ${namesOf(step.batch)}${step.tip === undefined ? '' : ' at the tip'}`
    case 'resolve':
      return `resolve ${namesOf(step.writes)}`
    case 'move':
      return `move ${namesOf(step.writes)}${step.gone === undefined ? '' : ', as the branch is gone'}`
    case 'wait':
      return `wait ${step.untilMs - nowMs} ms`
    case 'hand_over':
    case 'renew_cache':
    case 'idle':
      return step.kind
  }
}

const namesOf = (writes: readonly OpenWrite[]) =>
  writes.length > 5 ? `${writes.length} writes` : writes.map(({ taskId }) => taskId).join(', ')

const memoryAfter = (outcomes: readonly Outcome[]): BranchMemory =>
  outcomes.reduce((memory, outcome) => remember(memory, outcome, nowMs, 0.5), newMemory)

const rows: Readonly<Record<string, readonly Row[]>> = {
  'deadlines and ended tasks': [
    { says: 'nothing is open', open: [], does: 'idle' },
    {
      says: 'a write past its deadline ends before anything is pushed',
      open: [aWrite('late', { secondsLeft: 1.9 }), one],
      does: 'end late: git_unreachable, nothing was committed before the timeout: still queued',
    },
    {
      says: 'its reason is the last thing that happened: what its task shows',
      open: [aWrite('late', { secondsLeft: 1, lastReason: 'Connection refused' })],
      does: 'end late: git_unreachable, nothing was committed before the timeout: Connection refused',
    },
    {
      says: 'its reason is the last thing that happened: lost races',
      open: [aWrite('one', { secondsLeft: 1, lastReason: 'Connection refused' })],
      after: [lostRace(one), lostRace(one)],
      does: 'end one: git_unreachable, nothing was committed before the timeout: lost 2 push races',
    },
    {
      says: 'its cause is that of the last failure',
      open: [aWrite('one', { secondsLeft: 1, lastReason: 'disk full' })],
      after: [failed('machine')],
      does: 'end one: cache_unusable, nothing was committed before the timeout: disk full',
    },
    {
      says: 'a push without an answer says so at the deadline',
      open: [sent('one', { secondsLeft: 1, lastReason: 'git push timed out' })],
      does: 'end one: git_unreachable, whether the commit arrived is not known: no answer before the timeout: git push timed out',
    },
    {
      says: 'a task that was cancelled before its push is dropped',
      open: [aWrite('gone', { isWanted: false }), one],
      does: 'end gone: dropped',
    },
    {
      says: 'a push would be cut off, and the reason of the last failure is known: the deadline is awaited',
      open: [aWrite('one', { secondsLeft: 3.5, lastReason: 'Connection refused' })],
      does: 'wait 1500 ms',
    },
    {
      says: 'a push would be cut off, but nothing was tried',
      open: [aWrite('one', { secondsLeft: 3.5 })],
      does: 'push one',
    },
  ],
  'the size of a batch': [
    { says: 'all that wait go together', open: queued(100), does: 'push 100 writes' },
    { says: 'a lost race halves it', open: queued(100), after: [lostRace(...queued(100))], does: 'push 50 writes' },
    {
      says: 'a push that landed doubles it',
      open: queued(100),
      after: [lostRace(...queued(100)), lostRace(...queued(50)), landed(...queued(25))],
      does: 'push 50 writes',
    },
    {
      says: 'not below ten, which are hardly slower than one',
      open: queued(100),
      after: Array.from({ length: 9 }, () => lostRace(...queued(15))),
      does: 'push 10 writes',
    },
    {
      says: 'a lost race does not raise it',
      open: queued(100),
      after: [refused('frozen', ...queued(100)), lostRace(one)],
      does: 'push 0',
    },
    {
      says: 'a push without an answer halves it, and its files come after the others',
      open: [...queued(8), aWrite('8'), aWrite('9')],
      after: [unanswered(...queued(8)), { kind: 'read' }],
      does: 'push 8, 9',
    },
  ],
  refusals: [
    {
      says: 'one bad commit must not fail the others: they are tried alone',
      open: queued(10),
      after: [refused('frozen', ...queued(10))],
      does: 'push 0',
    },
    {
      says: 'a commit that is refused alone ends with the words of the host',
      open: [one, other],
      after: [refused('frozen', one)],
      does: 'end one: git_refused, frozen',
    },
    {
      says: 'a key that may not push is no matter of the commit',
      open: [one],
      after: [refused('permission denied for writing', one)],
      does: 'end one: git_access_denied, permission denied for writing',
    },
    {
      says: 'the next one is taken from further on, as bad commits may be neighbours',
      open: queued(10).slice(1),
      after: [refused('frozen', ...queued(10)), refused('frozen', aWrite('0'))],
      does: 'push 2',
    },
    {
      says: 'after five in the same words the rest is tried together',
      open: queued(10).slice(5),
      after: queued(5).map((write) => refused('frozen', write)),
      does: 'push 5, 6, 7, 8, 9',
    },
    {
      says: 'words that differ in numbers and ids alone are the same',
      open: queued(8).slice(5),
      after: queued(5).map((write, at) => refused(`frozen ${at}`, write)),
      does: 'push 5, 6, 7',
    },
    {
      says: 'the rest is refused in those words too: the branch takes none',
      open: queued(7).slice(5),
      after: [...queued(5).map((write) => refused('frozen', write)), refused('frozen', ...queued(7).slice(5))],
      does: 'end 5: git_refused, frozen; end 6: git_refused, frozen',
    },
    {
      says: 'the rest is refused in other words: they are tried alone again',
      open: queued(7).slice(5),
      after: [...queued(5).map((write) => refused('frozen', write)), refused('too long', ...queued(7).slice(5))],
      does: 'push 5',
    },
    {
      says: 'a refusal waits until the push before it, which had no answer, was looked for',
      open: [sent('one')],
      after: [refused('no', sent('one'))],
      does: 'resolve one',
    },
    {
      says: 'the push before it can still arrive: the refusal counts, and the reason says so',
      open: [sent('one')],
      after: [refused('no', sent('one')), resolved(base)],
      does: 'end one: git_refused, whether the commit arrived is not known: no',
    },
  ],
  'pushes without an answer': [
    { says: 'are looked for before their files are written again', open: [sent('one'), other], does: 'resolve one' },
    {
      says: 'after a pause',
      open: [sent('one')],
      after: [unanswered(one)],
      does: 'wait 250 ms',
    },
    {
      says: 'the branch is where they were built: sent again, it takes one of the two',
      open: [sent('one')],
      after: [resolved(base)],
      does: 'push one at the tip',
    },
    {
      says: 'the tip does not hold after a wait',
      open: [sent('one')],
      after: [resolved(base), waited],
      does: 'resolve one',
    },
    {
      says: 'what became of one is not known: others are pushed, but not those of its file',
      open: [sent('one', { file: 'x' }), aWrite('second', { file: 'x' }), other],
      after: [resolved(moved, true)],
      does: 'push other',
    },
    {
      says: 'and it is looked for again',
      open: [sent('one', { file: 'x' }), aWrite('second', { file: 'x' })],
      after: [resolved(moved, true)],
      does: 'wait 250 ms',
    },
    {
      says: 'with growing pauses',
      open: [sent('one')],
      after: [resolved(moved, true), resolved(moved, true), resolved(moved, true)],
      does: 'wait 1000 ms',
    },
    {
      says: "a cancelled task's push may still arrive: nothing is pushed on top, it is looked for again",
      open: [sent('gone', { isWanted: false })],
      after: [resolved(base, true)],
      does: 'wait 250 ms',
    },
    {
      says: "a cancelled task's push holds up no other one of its file",
      open: [sent('gone', { isWanted: false, file: 'x' }), aWrite('newer', { file: 'x' })],
      after: [resolved(base, true)],
      does: 'push newer',
    },
    {
      says: 'until the deadline of its task, while the branch is where it was built',
      open: [sent('gone', { isWanted: false, secondsLeft: -1 })],
      after: [resolved(base, true)],
      does: 'end gone: dropped',
    },
    {
      says: 'and for ten minutes longer on a host that does not answer',
      open: [sent('gone', { isWanted: false, secondsLeft: -599 })],
      does: 'resolve gone',
    },
    {
      says: 'but no longer than that',
      open: [sent('gone', { isWanted: false, secondsLeft: -601 })],
      does: 'end gone: dropped',
    },
  ],
  'failures that pass': [
    { says: 'are tried again after a pause', open: [one], after: [failed('unreachable')], does: 'wait 250 ms' },
    {
      says: 'which doubles',
      open: [one],
      after: [failed('unreachable'), waited, failed('timed_out'), waited, failed('unreachable')],
      does: 'wait 1000 ms',
    },
    {
      says: 'up to 4 s',
      open: [one],
      after: Array.from({ length: 9 }, () => failed('unreachable')),
      does: 'wait 4000 ms',
    },
    { says: 'and then', open: [one], after: [failed('unreachable')], laterMs: 250, does: 'push one' },
    {
      says: 'the pauses begin again after an answer',
      open: [one],
      after: [failed('unreachable'), failed('unreachable'), landed(other), failed('unreachable')],
      does: 'wait 250 ms',
    },
    {
      says: 'a pause ends with the first deadline',
      open: [
        aWrite('soon', { secondsLeft: 3.9 }),
        aWrite('gone', { isWanted: false, state: 'pushing', base, secondsLeft: -60 }),
      ],
      after: [failed('unreachable')],
      does: 'wait 1900 ms',
    },
    {
      says: 'a host that did not move the branch is waited for, too',
      open: [one],
      after: [{ kind: 'stuck', writes: [one], reason: 'failed to update ref' }],
      does: 'wait 250 ms',
    },
    { says: 'a cache that may be damaged is made again', open: [one], after: [failed('broken')], does: 'renew_cache' },
    {
      says: 'and used',
      open: [one],
      after: [failed('broken'), { kind: 'cache_renewed' }],
      does: 'push one',
    },
    {
      says: 'but not again within a minute: words that are not known may come again and again',
      open: [one],
      after: [failed('broken'), { kind: 'cache_renewed' }, failed('broken')],
      does: 'wait 250 ms',
    },
  ],
  'a replica that cannot do the work': [
    { says: 'goes on for 10 s', open: [one], after: [failed('machine', { forSeconds: 9 })], does: 'wait 250 ms' },
    ...(['machine', 'unreachable', 'timed_out'] as const).map((code) => ({
      says: `hands the repository over then: ${code}`,
      open: [one],
      after: [failed(code, { forSeconds: 10 }), failed(code)],
      does: 'hand_over',
    })),
    {
      says: 'counts from the first failure since the host answered',
      open: [one],
      after: [failed('unreachable', { forSeconds: 30 }), lostRace(one), failed('unreachable')],
      does: 'wait 250 ms',
    },
    {
      says: 'goes on where no other replica is there',
      open: [one],
      after: kept('unreachable', { forSeconds: 60 }),
      does: 'wait 250 ms',
    },
    {
      says: 'whose disk or processes fail ends what has waited for 20 s',
      open: [aWrite('old', { waitedSeconds: 20 }), aWrite('new', { waitedSeconds: 19 })],
      after: kept('machine', { forSeconds: 20 }),
      does: 'end old: cache_unusable, words of machine',
    },
    {
      says: 'whose disk or processes fail ends nothing before',
      open: [aWrite('old', { waitedSeconds: 20 })],
      after: kept('machine', { forSeconds: 19 }),
      does: 'wait 250 ms',
    },
  ],
  'failures that do not pass': [
    ...(
      [
        ['host_key', 'git_host_key'],
        ['access_denied', 'git_access_denied'],
        ['repository_missing', 'git_repository_missing'],
        ['branch_missing', 'not_followed'],
      ] as const
    ).map(([code, cause]) => ({
      says: `end all that is open: ${code}`,
      open: [one, aWrite('gone', { isWanted: false, state: 'pushing', base })],
      after: [failed(code)],
      does: `end one: ${cause}, words of ${code}; end gone: dropped`,
    })),
    {
      says: 'end only what was open then',
      open: [aWrite('next')],
      after: [failed('host_key'), { kind: 'ended', results: [] }],
      does: 'push next',
    },
  ],
  'the default branch': [
    {
      says: 'writes for HEAD go to the branch that the host names',
      open: [aWrite('one', { branch: 'HEAD' })],
      branch: 'HEAD',
      does: 'move one',
    },
    {
      says: 'a branch that is gone may be the default branch under its old name',
      open: [one, aWrite('head', { branch: 'HEAD' })],
      after: [failed('branch_missing', { writes: [one] })],
      does: 'move head, as the branch is gone',
    },
    {
      says: 'those that named the branch end then',
      open: [one],
      after: [failed('branch_missing'), { kind: 'moved' }, failed('branch_missing')],
      does: 'end one: not_followed, words of branch_missing',
    },
    {
      says: 'that is missing, too, ends all',
      open: [aWrite('head', { branch: 'HEAD' })],
      after: [failed('branch_missing', { wasMoving: true })],
      does: 'end head: not_followed, words of branch_missing',
    },
    {
      says: 'is asked for again after a pause where the host does not answer',
      open: [aWrite('head', { branch: 'HEAD' })],
      branch: 'HEAD',
      after: [failed('unreachable', { wasMoving: true })],
      does: 'wait 250 ms',
    },
  ],
}

describe.for(Object.entries(rows))('%s', ([, ofTopic]) => {
  test.for(ofTopic)('$says: $does', ({ open, after = [], laterMs = 0, branch = 'main', does }) => {
    expect(worded(nextStep({ branch, open, memory: memoryAfter(after) }, nowMs + laterMs))).toBe(does)
  })
})

describe('the reason that tasks show', () => {
  test.for([
    {
      says: 'a failure concerns all that were open',
      outcome: failed('unreachable', { writes: [one, other] }),
      shows: ['one', 'other'],
    },
    {
      says: 'the end of a task that cut off a command says less than what happened before',
      outcome: failed('timed_out', {
        writes: [aWrite('new', { secondsLeft: 2.5 }), aWrite('told', { lastReason: 'refused' })],
      }),
      shows: ['new'],
    },
    { says: 'a lost race is not shown before the end', outcome: lostRace(one), shows: undefined },
  ])('$says', ({ outcome, shows }) => expect(memoryAfter([outcome]).pause?.taskIds).toEqual(shows))
})

test.for([
  { lastReason: 'refused', isLate: true },
  { lastReason: undefined, isLate: false },
])(
  'a push is withdrawn 2 s before its end where the reason $lastReason is known: $isLate',
  ({ lastReason, isLate }) => {
    const writes = [aWrite('one', { secondsLeft: 10, lastReason })]
    expect(isTooLate(writes, newMemory, nowMs, nowMs + 5_900)).toBe(false)
    expect(isTooLate(writes, newMemory, nowMs, nowMs + 6_100)).toBe(isLate)
  },
)

test('what is known of a write goes with it', () => {
  const raced = [lostRace(one, other)]
  expect([...memoryAfter([...raced, landed(one)]).tries.keys()]).toEqual(['other'])
  expect([...memoryAfter([...raced, { kind: 'ended', results: [other] }]).tries.keys()]).toEqual(['one'])
})
