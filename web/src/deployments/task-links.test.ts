import { expect, test } from 'vitest'
import { followCommand, pipelineName, repositoryName } from './task-links.ts'

test.for([
  ['https://git.example/shop/deployments.git', 'shop/deployments'],
  ['git@git.example:shop/deployments.git', 'shop/deployments'],
  ['ssh://git@git.example/shop/deployments', 'shop/deployments'],
  ['ssh://git@git.example:2222/shop/deployments.git', 'shop/deployments'],
  ['<b>odd</b>', '<b>odd</b>'],
] as const)('the repository %s is called %s', ([repository, name]) => expect(repositoryName(repository)).toBe(name))

test.for([
  ['https://github.com/shop/web/actions/runs/7/attempts/1', 'shop/web/actions/runs/7/attempts/1'],
  ['javascript:alert(1)', 'javascript:alert(1)'],
] as const)('the pipeline %s is called %s', ([url, name]) => expect(pipelineName(url)).toBe(name))

test('one line of curl follows a task', () => {
  expect(followCommand('https://watcher.example', 'a"b')).toBe(
    'curl --fail-with-body "https://watcher.example/api/v1/tasks/a%22b?wait=50"',
  )
})
