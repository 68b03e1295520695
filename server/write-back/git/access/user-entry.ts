import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { type GitEnvironment, runGit } from './run-git.ts'

/** Lets OpenSSH run for a user without an entry in /etc/passwd, as Kubernetes may choose one. */
export type UserEntry = {
  /** What the commands need; nothing for a user with an entry, and where libnss-wrapper is not installed. */
  readonly environment: GitEnvironment
  /** Makes the file again where it was deleted. */
  write(): Promise<void>
}

/** The entry is in a file of the folder, which nss_wrapper (https://cwrap.org/nss_wrapper.html) shows to OpenSSH. */
export async function openUserEntry(folder: string, base: GitEnvironment): Promise<UserEntry> {
  if (hasEntry()) return { environment: {}, write: async () => undefined }
  const file = path.join(folder, 'passwd')
  const text = `watcher:x:${process.getuid?.()}:${process.getgid?.()}::/nonexistent:/usr/sbin/nologin\n`
  const write = () => writeFile(file, text)
  await write()
  const environment = { LD_PRELOAD: 'libnss_wrapper.so', NSS_WRAPPER_PASSWD: file, NSS_WRAPPER_GROUP: '/etc/group' }
  // -G only shows options, after it has looked for the entry
  const attempt = { program: 'ssh', arguments: ['-F', 'none', '-G', 'localhost'], timeoutMs: 10_000 } as const
  const { exitCode } = await runGit({ ...attempt, environment: { ...base, ...environment } })
  return { environment: exitCode === 0 ? environment : {}, write }
}

function hasEntry(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}
