import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { isSameRepository, parseRepositoryAddress, repositoryName } from './repository-address.ts'

test.for([
  { one: '/srv/git/a', other: '/srv/git/a', is: true },
  { one: 'git@git.example:ops/gitops.git', other: 'https://git.example/ops/gitops', is: true },
  { one: 'ssh://git@git.example:22/ops/gitops.git', other: 'git@git.example:ops/gitops', is: true },
  { one: 'https://user:pw@GIT.example/ops/gitops/', other: 'https://git.example/ops/gitops.git', is: true },
  { one: 'ssh://git@git.example:2222/ops/gitops', other: 'https://git.example/ops/gitops', is: true },
  { one: 'https://git.example/ops/gitops', other: 'https://git2.example/ops/gitops', is: false },
  { one: 'https://git.example/ops/gitops', other: 'https://git.example/ops/GitOps', is: false },
])('$one and $other are one repository: $is', ({ one, other, is }) => expect(isSameRepository(one, other)).toBe(is))

test.for([
  {
    text: 'git@ssh.dev.azure.com:v3/org/My%20Project/deploy',
    location: 'ssh.dev.azure.com/v3/org/My%20Project/deploy',
  },
  { text: 'ssh://git@git.example/my%20team/deploy', location: 'git.example/my%20team/deploy' },
  {
    text: 'https://dev.azure.com/org/My%20Project/_git/deploy',
    location: 'dev.azure.com/org/My%20Project/_git/deploy',
  },
  { text: 'ssh://git@[2001:db8::1]/team/deploy', location: undefined },
])('$text is the address of $location', ({ text, location }) =>
  expect(parseRepositoryAddress(text)?.location).toBe(location),
)

describe('a path has no other percent-encoding than %20, which hosts may decode to a path that is not allowed', () => {
  const paths = ['%2e%2e', '%2E%2E', '.%2e', '..%2f', 'a%2fb', '%5c', 'te%61m', '%0a', '%27', '%00', '%252e', '%', '%2']
  test.for(paths)('%s', (path) => {
    for (const start of ['https://git.example/', 'ssh://git@git.example/', 'git@git.example:'])
      expect(parseRepositoryAddress(`${start}team/${path}/other/deploy.git`)).toBeUndefined()
  })
})

test.for([
  { text: 'git@git.example:team/deploy.git', name: 'git.example/team/deploy' },
  { text: 'git@GIT.example:/team//deploy.git/', name: 'git.example/team/deploy' },
  { text: 'ssh://git@git.example/team/deploy', name: 'git.example/team/deploy' },
  { text: 'ssh://git@git.example:22/team/deploy.git', name: 'git.example/team/deploy' },
  { text: 'https://git.example/./team/deploy.git', name: 'git.example/team/deploy' },
  { text: 'https://git.example:443/team/deploy', name: 'git.example/team/deploy' },
  { text: 'https://bot@git.example/team/deploy', name: 'git.example/team/deploy' },
  { text: 'https://git.example/team/Deploy', name: 'git.example/team/Deploy' },
  { text: 'ssh://git@git.example:2222/team/deploy.git', name: 'ssh://git@git.example:2222/team/deploy' },
  { text: 'ssh://git@git.example:443/team/deploy', name: 'ssh://git@git.example:443/team/deploy' },
  { text: 'https://git.example:8443/team/deploy.git', name: 'https://git.example:8443/team/deploy' },
  { text: 'https://git.example:22/team/deploy', name: 'https://git.example:22/team/deploy' },
  { text: 'alice@git.example:deploy.git', name: 'ssh://alice@git.example/deploy' },
  { text: 'ssh://alice@git.example:22/deploy', name: 'ssh://alice@git.example/deploy' },
  { text: '/srv/git/deploy.git', name: '/srv/git/deploy.git' },
])('the repository at $text is $name', ({ text, name }) => expect(repositoryName(text)).toBe(name))

test('an annotation of 100 kB is judged at once, however it repeats itself', () => {
  const began = cpuMs()
  for (const piece of ['/', 'a/', 'ssh://', 'git@a.b:', '.', '%2e'])
    for (const text of [piece.repeat(100_000), `ssh://git@git.example/${piece.repeat(100_000)}\u0000`])
      expect(parseRepositoryAddress(text)).toBeUndefined()
  expect(cpuMs() - began).toBeLessThan(1_000)
})
