import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from './a-task.ts'
import { againQuestion, backQuestion } from './action-words.ts'

const images = (...tags: readonly string[]) => tags.map((tag, at) => ({ image: `registry.example/shop-${at}`, tag }))
const deployed = (...tags: readonly string[]) => ({ id: tags.join(), images: images(...tags), ended: 900 })
const newest = (status: TaskRecord['status'], tag: string) => ({ id: tag, images: images(tag), status })

describe('the question before v2 is deployed again', () => {
  test.for<[Partial<TaskRecord>, string]>([
    [{}, 'Deploy v2 again?'],
    [{ previous: deployed('v1') }, 'v1 was deployed last. Deploy v2 in its place?'],
    [
      { previous: deployed('v1'), deployed_since: deployed('v3'), newest_since: newest('deployed', 'v3') },
      'v3 runs now. Deploy v2 in its place?',
    ],
    [{ deployed_since: deployed('v2'), newest_since: newest('deployed', 'v2') }, 'v2 runs now. Deploy v2 again?'],
    [
      { deployed_since: deployed('v3'), newest_since: newest('failed', 'v4') },
      'v3 was deployed last. Deploy v2 in its place?',
    ],
    [{ newest_since: newest('in progress', 'v4') }, 'v4 is being deployed. Deploy v2 in its place?'],
    [{ previous: deployed('v1', 'v7') }, 'Another version was deployed last. Deploy v2 in its place?'],
    [{ images: images('v2', 'v8') }, 'Deploy this version again?'],
  ])('%j: "%s"', ([fields, title]) => {
    expect(againQuestion(aTask({ status: 'failed', images: images('v2'), ...fields })).title).toBe(title)
  })
})

test('a question says what is cancelled', () => {
  const task = aTask({ status: 'failed', newest_since: newest('in progress', 'v4') })
  for (const { text } of [againQuestion(task), backQuestion(task, 'v1')])
    expect(text).toMatch(/ It cancels v4, which is in progress\.$/)
  expect(againQuestion(aTask({ status: 'failed' })).text).not.toContain('cancels')
})
