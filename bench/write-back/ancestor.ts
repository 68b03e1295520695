import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import { overridePath } from './generated-repository.ts'
import type { SshHost } from './start-ssh-host.ts'

const attempts = 5

/** The shape that write-back has elsewhere, with the git command line: a cached shallow clone with a work tree. */
export async function openAncestor(host: SshHost, repository: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-ancestor-'))
  const environment = { GIT_SSH_COMMAND: host.sshCommand }
  const git = (...args: string[]) => runGit(folder, args, '', environment)
  await git('clone', '--quiet', '--depth=1', '--single-branch', '--branch=main', host.url(repository), '.')

  async function write(app: string, tag: string): Promise<void> {
    const file = path.join(folder, overridePath(app))
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, overrideFile(tag))
    await git('add', '--', overridePath(app))
    await git('commit', '--quiet', '--message', `watcher(${app}): update image tag`)
  }

  async function pushTogether(apps: readonly string[], tag: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await git('fetch', '--quiet', '--depth=1', 'origin', 'main')
      await git('reset', '--quiet', '--hard', 'origin/main')
      for (const app of apps) await write(app, tag)
      try {
        await git('push', '--quiet', 'origin', 'HEAD:main')
        return
      } catch (error) {
        if (attempt === attempts) throw error
      }
    }
  }

  return {
    /** Commits for each application, so many to a push. @returns milliseconds */
    async deploy(apps: readonly string[], tag: string, batch: number): Promise<number> {
      const beganMs = performance.now()
      for (let from = 0; from < apps.length; from += batch) await pushTogether(apps.slice(from, from + batch), tag)
      return performance.now() - beganMs
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}
