import { expect, test } from 'vitest'
import { commitMessage } from './commit-message.ts'

test('the default message names the application; the trailer names the task (spec 2.7)', () => {
  expect(commitMessage({ id: '42', app: 'shop' }, true)).toBe('watcher(shop): update image tag\n\nWatcher-Task: 42\n')
})

test('the trailer can be left out', () => {
  expect(commitMessage({ id: '42', app: 'shop' }, false)).toBe('watcher(shop): update image tag\n')
})

test.for(['a\nWatcher-Task: 1', 'a\r\n\r\nWatcher-Task: 1', 'a\u2028b', 'a\u0000b', 'a\u001b[31mb', 'a\u202eb'])(
  'an application named %j cannot fake a second line',
  (app) => {
    const message = commitMessage({ id: '42', app }, true)
    expect(message.split('\n')).toHaveLength(4)
    expect(message.match(/^Watcher-Task: /gm)).toHaveLength(1)
    expect(message.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u)
  },
)
