import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkPrograms } from './check-programs.ts'

/** A folder with these programs, each the lines of a shell script. */
async function aSearchPath(programs: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-path-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(programs))
    await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

const git = (version: string) => ({ git: `echo git version ${version}` })
const ssh = { ssh: 'exit 0', 'ssh-keygen': 'exit 0' }

test.for([
  { programs: {}, says: 'git and ssh and ssh-keygen not found: install git (2.36 or newer) and openssh-client' },
  {
    programs: { ...git('2.36.0'), ssh: '' },
    says: 'ssh-keygen not found: install git (2.36 or newer) and openssh-client',
  },
  { programs: { ...git('2.35.8'), ...ssh }, says: 'git 2.35.8 is too old: install git 2.36 or newer' },
])('$says', async ({ programs, says }) => {
  await expect(checkPrograms(await aSearchPath(programs))).rejects.toThrow(says)
})

test('the oldest that is good enough', async () => {
  await checkPrograms(await aSearchPath({ ...git('2.36.0.windows.1'), ...ssh }))
})
