import { readdir, rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { startGitHost } from '../../../../test/support/start-git-host.ts'
import { writeBackSettings } from '../../../../test/support/write-back-settings.ts'
import { createCommitHistory } from '../history/commit-history.ts'
import { openGitRepository } from '../push/git-repository.ts'
import { openGitAccess } from './git-access.ts'
import { createRepositoryCache } from './repository-cache.ts'

test('REPO_CACHE_LIMIT bounds caches and histories together, and what was thrown away is made again', async () => {
  await using host = await startGitHost()
  const first = await host.createRepository('r.git', { 'README.md': 'hello\n' })
  const second = await host.commitFiles('r.git', { 'README.md': 'more\n' })
  const settings = writeBackSettings(host, { repoCacheLimitBytes: 1, gitOpTimeoutMs: 15_000 })
  const access = await openGitAccess(settings, process.env.PATH ?? '')
  onTestFinished(async () => {
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  const { commitAuthor: author, gitOpTimeoutMs } = settings
  const repository = openGitRepository(host.url('r.git'), createRepositoryCache('r', 'main', access), {
    access,
    author,
    gitOpTimeoutMs,
    nowMs: Date.now,
  })
  onTestFinished(() => repository.closeReader())
  const history = createCommitHistory({ access, nowMs: Date.now, onError: () => {} })
  const use = async () => {
    expect((await repository.readTip('fresh')).commit).toBe(second)
    expect(await history.ancestry(host.url('r.git'), second, first)).toBe('unrelated')
  }
  const clones = async () => (await readdir(access.folder)).filter((name) => /^h?[0-9a-f]{16}$/.test(name))

  await use()
  await access.caches.trim()
  expect(await clones()).toHaveLength(2) // both may be in use
  await eventually(async () => {
    await access.caches.trim()
    expect(await clones()).toEqual([])
  })
  await use()
  expect(await history.ancestry(host.url('r.git'), first, second)).toBe('descendant')
  expect(await clones()).toHaveLength(2)
})
