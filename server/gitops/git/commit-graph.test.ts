import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { createCommitGraph } from './commit-graph.ts'

/** From `commit` or `commit<parent,parent` or `commit<parent:task`, parents first. */
function aGraph(...commits: readonly string[]) {
  const graph = createCommitGraph()
  for (const text of commits) {
    const [ids = '', tasks = ''] = text.split(':')
    const [commit = '', parents = ''] = ids.split('<')
    graph.add(commit, parents.split(',').filter(Boolean), tasks.split(' ').filter(Boolean))
  }
  return graph
}

describe('the graph of commits', () => {
  const graph = aGraph('a', 'b<a', 'x<a', 'c<b', 'm<c,x', 'd<m', 'other', 'cut<gone')
  test.for([
    { commit: 'a', revision: 'd', ancestry: 'descendant' },
    { commit: 'x', revision: 'm', ancestry: 'descendant' },
    { commit: 'd', revision: 'd', ancestry: 'descendant' },
    { commit: 'd', revision: 'x', ancestry: 'unrelated' },
    { commit: 'x', revision: 'c', ancestry: undefined },
    { commit: 'other', revision: 'd', ancestry: undefined },
    { commit: 'a', revision: 'cut', ancestry: undefined },
  ] as const)('$revision is to $commit: $ancestry', ({ commit, revision, ancestry }) =>
    expect(graph.ancestry(commit, revision)).toBe(ancestry),
  )

  test('tells the tasks of the commits after a base, also those that came by a merge', () => {
    const tasks = aGraph('a:t0', 'b<a:t1', 'x<a:t2', 'm<b,x:t3 t4', 'later<m:t5')
    expect(tasks.tasksBetween('b', 'm')).toEqual(new Map([...Object.entries({ t3: 'm', t4: 'm', t2: 'x' })]))
    expect(tasks.tasksBetween('m', 'm')).toEqual(new Map())
    expect(tasks.tasksBetween('unknown', 'b')).toEqual(new Map([...Object.entries({ t1: 'b', t0: 'a' })]))
  })

  test('is asked about recent commits without a walk to the roots', () => {
    const long = createCommitGraph()
    for (let at = 0; at < 200_000; at += 1) long.add(`${at}`, at === 0 ? [] : [`${at - 1}`], [])
    long.add('side', ['199990'], [])
    const beganMs = cpuMs()
    for (let at = 0; at < 1_000; at += 1) expect(long.ancestry('199999', 'side')).toBeUndefined()
    expect(cpuMs() - beganMs).toBeLessThan(2_000) // to the roots it takes minutes
  })
})
