import { expect, test } from 'vitest'
import { TaskEvents } from '../../contract/task-event.ts'
import { startWorld } from '../support/world.ts'

test('an invalid COMMIT_MESSAGE_FORMAT ends the start, and one that fails later falls back to the default (B57; the second part)', async () => {
  const format = '{{.Project}}/{{.App}}{{range .Images}} {{.Tag}}{{end}}{{if eq .App "blog"}}{{index .Images 5}}{{end}}'
  await using world = await startWorld({ applications: ['shop', 'blog'], settings: { COMMIT_MESSAGE_FORMAT: format } })
  const shop = await world.deploy('shop', 'v2')
  const blog = await world.deploy('blog', 'v2')
  for (const id of [shop, blog])
    await expect.poll(async () => (await world.service.getTask(id)).status).toBe('deployed')
  const { project } = await world.service.getTask(shop)
  const messages = (await world.commits()).map(({ message }) => message.trimEnd()).toSorted()
  expect(messages).toEqual(
    [
      `${project}/shop v2\n\nWatcher-Task: ${shop}`,
      `watcher(blog): update image tag\n\nWatcher-Task: ${blog}`,
    ].toSorted(),
  )
  const failure = 'error calling index: index out of range: 5'
  const notesOf = async (id: string) => {
    const { body } = await world.service.request(`/api/v1/tasks/${id}/events`)
    return TaskEvents.parse(body)
      .events.filter(({ kind }) => kind === 'note')
      .map(({ detail }) => detail)
  }
  expect(await notesOf(shop)).toEqual([])
  expect(await notesOf(blog)).toEqual([
    expect.stringMatching(new RegExp(`^COMMIT_MESSAGE_FORMAT failed, default message used: template: .*${failure}$`)),
  ])
  const warnings = world.service
    .logs()
    .split('\n')
    .filter((line) => line.includes('COMMIT_MESSAGE_FORMAT failed'))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(failure)
  expect(warnings[0]).toContain(blog)
})
