import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A search path whose `git` writes down the first argument of each command, until the end of the test. */
export async function countedGit() {
  const folder = await mkdtemp(path.join(tmpdir(), 'counted-git-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const list = path.join(folder, 'commands')
  const real = process.env.PATH ?? ''
  await writeFile(path.join(folder, 'git'), `#!/bin/sh\necho "$1" >>'${list}'\nPATH='${real}' exec git "$@"\n`)
  await chmod(path.join(folder, 'git'), 0o755)
  return {
    searchPath: `${folder}:${real}`,
    commands: async () => (await readFile(list, 'utf8')).trim().split('\n'),
  }
}
