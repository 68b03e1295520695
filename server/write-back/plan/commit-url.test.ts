import { expect, test } from 'vitest'
import { commitUrl, compareUrl } from './commit-url.ts'

const webUrls = new Map([
  ['git.example', 'https://git.example/{path}/commit/{sha}'],
  ['git.example:2222', 'https://code.example/{path}?at={sha}'],
])

test.for([
  ['https://github.com/team/gitops.git', 'https://github.com/team/gitops/commit/4f3c1d2'],
  ['git@github.com:team/gitops.git', 'https://github.com/team/gitops/commit/4f3c1d2'],
  ['ssh://git@ssh.github.com:443/team/gitops.git', 'https://github.com/team/gitops/commit/4f3c1d2'],
  ['git@gitlab.com:group/sub/gitops.git', 'https://gitlab.com/group/sub/gitops/-/commit/4f3c1d2'],
  ['ssh://git@altssh.gitlab.com:443/group/gitops', 'https://gitlab.com/group/gitops/-/commit/4f3c1d2'],
  ['https://bitbucket.org/team/gitops/', 'https://bitbucket.org/team/gitops/commits/4f3c1d2'],
  ['ssh://git@bitbucket.org/team/gitops.git', 'https://bitbucket.org/team/gitops/commits/4f3c1d2'],
  ['ssh://git@git.example/team/gitops.git', 'https://git.example/team/gitops/commit/4f3c1d2'],
  ['ssh://git@git.example:2222/team/gitops.git', 'https://code.example/team/gitops?at=4f3c1d2'],
  ['ssh://git@git.example:22/team/$&.git', undefined],
  ['ssh://git@elsewhere.example/team/gitops.git', undefined],
  ['file:///srv/gitops.git', undefined],
  ['', undefined],
] as const)('a commit of %s is at %s', ([repository, url]) =>
  expect(commitUrl(repository, '4f3c1d2', webUrls)).toBe(url),
)

test.for([
  ['https://github.com/acme/shop', 'https://github.com/acme/shop/compare/8f3a2c1...4f3c1d2'],
  ['git@gitlab.com:group/sub/shop.git', 'https://gitlab.com/group/sub/shop/-/compare/8f3a2c1...4f3c1d2'],
  ['https://bitbucket.org/team/shop', 'https://bitbucket.org/team/shop/branches/compare/4f3c1d2%0D8f3a2c1'],
  ['ssh://git@git.example/team/shop.git', 'https://git.example/team/shop/compare/8f3a2c1...4f3c1d2'],
  ['ssh://git@git.example:2222/team/shop.git', undefined],
  ['acme/shop', undefined],
] as const)('two commits of %s are compared at %s', ([repository, url]) =>
  expect(compareUrl(repository, '8f3a2c1', '4f3c1d2', webUrls)).toBe(url),
)
