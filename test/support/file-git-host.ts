import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll } from 'vitest'
import { startGitHost } from './start-git-host.ts'

/** One Git host for all tests of a file that calls this, running until they are over. */
export async function startFileGitHost() {
  const host = await startGitHost()
  afterAll(() => host[Symbol.asyncDispose]())
  let made = 0
  return {
    host,
    /** Makes a repository with one commit and gives its name. */
    async aRepository(files: Record<string, string> = { 'README.md': 'hello\n' }): Promise<string> {
      made += 1
      const name = `r${made}.git`
      await host.createRepository(name, files)
      return name
    },
    async aHook(repository: string, name: string, script: string): Promise<void> {
      const file = path.join(host.directory(repository), 'hooks', name)
      await writeFile(file, `#!/bin/sh\n${script}\n`)
      await chmod(file, 0o755)
    },
  }
}
