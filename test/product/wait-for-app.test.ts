import { describe, expect } from 'vitest'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { withToken } from '../support/world.ts'

const image = (app: string) => `registry.example/${app}`

describe('a task waits until its application exists', () => {
  test('it says so, and is committed and deployed once the application appears', async ({ world }) => {
    const app = 'appears-later'
    const id = await world.deploy(app, 'v1', { wait_for_app: 60 })
    const waiting = await world.service.waitForTask(id, ({ progress }) => progress?.startsWith('waiting') === true)
    expect(waiting).toMatchObject({
      status: 'in progress',
      progress: 'waiting for Argo CD to know the application',
      unmet_condition: 'alive',
      wait_for_app: 60,
    })
    expect(waiting).not.toHaveProperty('commit')
    await world.addApplications(app)
    expect(await world.service.waitForEnd(id)).toMatchObject({
      status: 'deployed',
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
  })

  test('one that appears with the requested tag is deployed without a commit', async ({ world }) => {
    const app = 'appears-ready'
    const id = await world.announce(app, 'v0', { wait_for_app: 60 })
    await world.service.waitForTask(id, ({ progress }) => progress?.startsWith('waiting') === true)
    await world.addApplications(app)
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
  })

  test('one that does not appear in time ends app not found, and not before', async ({ world }) => {
    const task = aTask({
      app: 'appears-never',
      images: [{ image: image('appears-never'), tag: 'v1' }],
      wait_for_app: 4,
    })
    const ended = await world.service.waitForEnd(await world.service.acceptTask(task, withToken))
    expect(ended).toMatchObject({
      status: 'app not found',
      cause: 'app_not_found',
      headline: 'Argo CD has no application of this name, or this account may not read it',
    })
    expect(ended.updated - ended.created).toBeGreaterThan(4)
  })

  test('a newer task replaces one that waits', async ({ world }) => {
    const older = await world.deploy('appears-not-yet', 'v1', { wait_for_app: 60 })
    const newer = await world.deploy('appears-not-yet', 'v2')
    expect(await world.service.waitForEnd(older)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    expect(await world.service.waitForEnd(newer)).toMatchObject({ status: 'app not found' })
  })

  test.for([
    [{ wait_for_app: 61, timeout: 60 }, 'wait_for_app: must not be longer than the timeout, 60 seconds'],
    [{ wait_for_app: 86_400 }, 'wait_for_app: must not be longer than the timeout, 900 seconds'],
    [{ wait_for_app: -1 }, 'wait_for_app: must not be below 0'],
    [{ wait_for_app: 1.5 }, 'wait_for_app: must be a whole number of seconds'],
  ] as const)('%j is refused', async ([fields, error], { world }) => {
    expect(await world.service.submitTask(aTask(fields))).toMatchObject({
      status: 406,
      body: { status: 'invalid payload', error },
    })
  })
})
