import { describe, expect, test } from 'vitest'
import { aTask } from './a-task.ts'
import { commitUrl, followCommand, repositoryName } from './task-links.ts'

describe('the page of a commit', () => {
  test.for([
    ['https://git.example/shop/deployments.git', 'https://git.example/shop/deployments/commit/4be19d0'],
    ['https://git.example/shop/deployments/', 'https://git.example/shop/deployments/commit/4be19d0'],
    ['https://ci:secret@git.example/shop', 'https://git.example/shop/commit/4be19d0'],
    ['git@git.example:shop/deployments.git', undefined],
    ['javascript:alert(1)', undefined],
    [undefined, undefined],
  ] as const)('in %s is %s', ([repository, url]) => {
    expect(commitUrl(aTask({ commit: '4be19d0', ...(repository && { repository }) }))).toBe(url)
  })
  test('is unknown without a commit', () => {
    expect(commitUrl(aTask({ repository: 'https://git.example/shop' }))).toBeUndefined()
  })
})

test.for([
  ['https://git.example/shop/deployments.git', 'shop/deployments'],
  ['git@git.example:shop/deployments.git', 'shop/deployments'],
  ['ssh://git@git.example/shop/deployments', 'shop/deployments'],
  ['ssh://git@git.example:2222/shop/deployments.git', 'shop/deployments'],
  ['<b>odd</b>', '<b>odd</b>'],
] as const)('the repository %s is called %s', ([repository, name]) => expect(repositoryName(repository)).toBe(name))

test('one line of curl follows a task', () => {
  expect(followCommand('https://watcher.example', 'a"b')).toBe(
    'curl --fail-with-body "https://watcher.example/api/v1/tasks/a%22b?wait=50"',
  )
})
