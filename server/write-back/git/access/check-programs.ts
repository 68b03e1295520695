import { access, constants } from 'node:fs/promises'
import path from 'node:path'
import { runGit } from './run-git.ts'

/** A program that the service cannot work without is missing or too old. */
export class MissingProgramError extends Error {
  override readonly name = 'MissingProgramError'
}

/** `fast-import`, `cat-file --batch-command` and partial clones as they are used here. */
const oldestGit = [2, 36] as const

/** @throws {MissingProgramError} in one line, with what to install */
export async function checkPrograms(searchPath: string): Promise<void> {
  const programs = ['git', 'ssh', 'ssh-keygen']
  const found = await Promise.all(programs.map((program) => isOnPath(program, searchPath)))
  const missing = programs.filter((_, at) => !found[at])
  if (missing.length > 0) {
    throw new MissingProgramError(`${missing.join(' and ')} not found: install git (2.36 or newer) and openssh-client`)
  }
  const environment = { PATH: searchPath, LC_ALL: 'C' }
  const { stdout } = await runGit({ arguments: ['--version'], environment, timeoutMs: 10_000 })
  const [text = 'unknown', major, minor] = /(?<!\d)(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?/.exec(stdout.toString()) ?? []
  const isOld = Number(major) < oldestGit[0] || (Number(major) === oldestGit[0] && Number(minor) < oldestGit[1])
  if (isOld) throw new MissingProgramError(`git ${text} is too old: install git ${oldestGit.join('.')} or newer`)
}

async function isOnPath(program: string, searchPath: string): Promise<boolean> {
  const name = process.platform === 'win32' ? `${program}.exe` : program
  const files = searchPath.split(path.delimiter).map((folder) => path.join(folder, name))
  const found = await Promise.all(
    files.map((file) =>
      access(file, constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
