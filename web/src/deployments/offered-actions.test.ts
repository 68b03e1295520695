import { expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from './a-task.ts'
import { offeredActions } from './offered-actions.ts'

const images = (tag: string) => [{ image: 'registry.example/shop', tag }]
const deployed = (tag: string) => ({ id: tag, images: images(tag), ended: 900 })
const newest = (tag: string, status: TaskRecord['status']) => ({ id: tag, images: images(tag), status })
const [v1, v3] = [deployed('v1'), deployed('v3')]

test.for<[string, Partial<TaskRecord>, readonly string[]]>([
  ['in progress', {}, ['cancel']],
  ['deployed and running', { status: 'deployed' }, []],
  ['deployed and replaced', { status: 'deployed', newest_since: newest('v3', 'deployed') }, ['back']],
  ['deployed, and deployed again since', { status: 'deployed', newest_since: newest('v2', 'deployed') }, []],
  ['deployed, before one that failed', { status: 'deployed', newest_since: newest('v3', 'failed') }, ['back']],
  ['deployed, before one in progress', { status: 'deployed', newest_since: newest('v3', 'in progress') }, ['back']],
  ['failed', { status: 'failed', previous: v1 }, ['back', 'again']],
  ['aborted', { status: 'aborted', previous: v1 }, ['back', 'again']],
  ['the first, and failed', { status: 'failed' }, ['again']],
  ['failed, and history', { status: 'failed', previous: v1, deployed_since: v3 }, ['again']],
  ['failed, and rolled back since', { status: 'failed', previous: v1, deployed_since: v1 }, ['again']],
  ['cancelled on request', { status: 'cancelled', cause: 'cancelled', previous: v1 }, ['again']],
  [
    'cancelled after its commit',
    { status: 'cancelled', cause: 'cancelled', previous: v1, commit: 'a62a982' },
    ['back', 'again'],
  ],
  ['superseded', { status: 'cancelled', cause: 'superseded', previous: v1 }, []],
  ['of an unknown application', { status: 'app not found' }, ['again']],
])('a task that is %s', ([, fields, offered]) => {
  expect(offeredActions(aTask({ images: images('v2'), ...fields }))).toEqual(offered)
})
