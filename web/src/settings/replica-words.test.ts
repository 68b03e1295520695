import { expect, test } from 'vitest'
import { replicaWords } from './replica-words.ts'

const replica = (tasks: number, heartbeat = 1_000) => ({ id: 'r', started: 0, heartbeat, tasks })

test.for([
  [[replica(3), replica(1)], '2, watching 3 and 1 deployments'],
  [[replica(1)], '1, watching 1 deployment'],
  [[replica(0), replica(2), replica(5, 935)], '3, watching 0, 2 and 5 deployments, one silent for 1 min 7 s'],
] as const)('replicas %j are "%s"', ([replicas, words]) => {
  expect(replicaWords([...replicas], 1_002).replaceAll('\u00a0', ' ')).toBe(words)
})
