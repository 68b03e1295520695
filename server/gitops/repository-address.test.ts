import { expect, test } from 'vitest'
import { isSameRepository } from './repository-address.ts'

test.for([
  { one: '/srv/git/a', other: '/srv/git/a', is: true },
  { one: 'git@git.example:ops/gitops.git', other: 'https://git.example/ops/gitops', is: true },
  { one: 'ssh://git@git.example:22/ops/gitops.git', other: 'git@git.example:ops/gitops', is: true },
  { one: 'https://user:pw@GIT.example/ops/gitops/', other: 'https://git.example/ops/gitops.git', is: true },
  { one: 'ssh://git@git.example:2222/ops/gitops', other: 'https://git.example/ops/gitops', is: true },
  { one: 'https://git.example/ops/gitops', other: 'https://git2.example/ops/gitops', is: false },
  { one: 'https://git.example/ops/gitops', other: 'https://git.example/ops/GitOps', is: false },
])('$one and $other are one repository: $is', ({ one, other, is }) => expect(isSameRepository(one, other)).toBe(is))
