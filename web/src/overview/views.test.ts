import { describe, expect, test } from 'vitest'
import type { AppSummary } from '../../../contract/app-summary.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import { aTask } from '../deployments/a-task.ts'
import { changeText } from '../ui/version-change.ts'
import { attentionOf, attentionsOf, changeOf, failedBefore, holdRows, sortRollouts, sortTiles } from './views.ts'

/** An application with its last outcomes, the newest first; the newest was created last and ended at `at`. */
function anApp(app: string, statuses: readonly TaskStatus[], at = 100): AppSummary {
  const recent = statuses.map((status, index) => ({ id: `${app}${index}`, status }))
  const index = statuses.findIndex((status) => status !== 'cancelled' && status !== 'app not found')
  const [id = '', status = 'deployed'] = [recent[index]?.id, recent[index]?.status]
  const latest = { id, status, author: 'ada', images: [], image_count: 0, created: at, ended: at }
  return { app, counts: {}, recent, ...(index >= 0 && { latest }) }
}

describe('an application needs attention', () => {
  test.for([
    [['failed', 'deployed'], 0, true],
    [['aborted'], 0, true],
    [['deployed', 'failed'], undefined, false],
    [['in progress', 'failed'], undefined, false],
    [['cancelled', 'app not found', 'failed'], 2, true],
    [['cancelled'], undefined, false],
    [[], undefined, false],
  ] as const)('by %j', ([statuses, index, hasDetails]) => {
    const attention = attentionOf(anApp('a', statuses))
    expect(attention?.id).toBe(index === undefined ? undefined : `a${index}`)
    expect(attention?.details !== undefined).toBe(hasDetails)
  })

  test('the newest end first, then by name', () => {
    const apps = [
      anApp('c', ['failed'], 1),
      anApp('b', ['failed'], 1),
      anApp('a', ['failed'], 2),
      anApp('d', ['deployed']),
    ]
    expect(attentionsOf(apps).map(({ app }) => app)).toEqual(['a', 'b', 'c'])
  })
})

test('a rollout is to repair the failed deployment before it', () => {
  const apps = [
    anApp('repair', ['in progress', 'cancelled', 'failed', 'deployed']),
    anApp('usual', ['in progress', 'deployed', 'failed']),
    anApp('bad', ['failed']),
  ]
  expect(failedBefore(apps)).toEqual(new Map([['repair', 'repair2']]))
})

describe('what an application changes is', () => {
  const images = (...tags: readonly string[]) => ({
    images: tags.map((tag, at) => ({ image: `i${at}`, tag })),
    image_count: tags.length,
  })
  const newest = { id: '2', status: 'failed' as const, author: 'ada', created: 2 }
  const last = { id: '1', created: 1, ...images('v1') }
  test.for([
    ['v1 → v2', { latest: { ...newest, ...images('v2') }, last_deployment: last }],
    ['v2', { latest: { ...newest, ...images('v2') } }],
    ['v1', { last_deployment: last }],
    ['v1', { latest: { ...newest, ...last, status: 'deployed' as const }, last_deployment: last }],
    ['a, and 15 more images', { latest: { ...newest, ...images('a', 'b', 'c'), image_count: 16 } }],
  ] as const)('"%s"', ([words, fields]) => {
    const summary = structuredClone({ app: 'shop', counts: {}, recent: [], ...fields }) as AppSummary
    expect(changeText(changeOf(summary))).toBe(words)
  })
})

test('tiles: what needs attention, what rolls out, then the latest', () => {
  const apps = [
    anApp('old', ['deployed'], 1),
    anApp('new', ['deployed'], 9),
    anApp('rolls', ['in progress'], 2),
    anApp('bad', ['failed'], 1),
  ]
  expect(sortTiles(apps).map(({ app }) => app)).toEqual(['bad', 'rolls', 'new', 'old'])
})

test('rollouts: the longest beyond the usual time first, those without one last', () => {
  const tasks = [
    aTask({ id: 'unknown', app: 'x', created: 1 }),
    aTask({ id: 'slow', app: 'slow', created: 10 }),
    aTask({ id: 'quick', app: 'quick', created: 20 }),
  ]
  const apps = [
    { ...anApp('slow', []), median_seconds: 100 },
    { ...anApp('quick', []), median_seconds: 5 },
  ]
  expect(sortRollouts(tasks, apps).map(({ id }) => id)).toEqual(['quick', 'slow', 'unknown'])
})

test('rows that are held stay, each with what is newest of it; new ones wait', () => {
  const [gone, known, newer, added] = [{ key: 'a' }, { key: 'b' }, { key: 'b', isNewer: true }, { key: 'c' }]
  expect(holdRows([gone, known], [added, newer], true)).toEqual([gone, newer])
  expect(holdRows([gone, known], [added, newer], false)).toEqual([added, newer])
})
