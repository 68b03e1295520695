import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { GitError } from './git-error.ts'
import { type GitEnvironment, runGit } from './run-git.ts'

/** A private key that settings name. */
export type KeySettings = {
  readonly setting: 'SSH_KEY_PATH' | 'SSH_SIGNING_KEY_PATH'
  readonly passphraseSetting: 'SSH_KEY_PASS' | 'SSH_SIGNING_KEY_PASS'
  readonly path: string | undefined
  readonly passphrase: (() => string) | undefined
}

export type KeyFile = {
  /** The copy, which only we can read. */
  readonly path: string
  /** Brings the copy up to date: keys rotate. @throws {GitError} `machine` */
  copy(): Promise<void>
  /** What OpenSSH needs to open an encrypted key. */
  environment(): GitEnvironment
  /** Says what is wrong with the settings; undefined: nothing. */
  check(base: GitEnvironment): Promise<string | undefined>
}

/** `ssh-add` would ask for a wrong passphrase again and again. */
const askPass = `#!/bin/sh
case "$1" in Bad*) exit 1 ;; esac
printf '%s\\n' "$WATCHER_SSH_PASSPHRASE"
`

/** A key with CRLF line ends or a mode that OpenSSH refuses is no fault: its copy in the folder `secrets` has neither. */
export function openKeyFile(settings: KeySettings, secrets: string, name: string): KeyFile {
  const { setting, passphraseSetting, passphrase } = settings
  const copied = path.join(secrets, name)
  const asker = path.join(secrets, 'askpass')

  async function copy(): Promise<void> {
    const key = await readKey(settings)
    await replaceFile(copied, key, 0o400)
    if (passphrase) await replaceFile(asker, askPass, 0o700)
  }

  const environment = (): GitEnvironment =>
    passphrase === undefined
      ? {}
      : { SSH_ASKPASS: asker, SSH_ASKPASS_REQUIRE: 'force', WATCHER_SSH_PASSPHRASE: passphrase() }

  return {
    path: copied,
    copy,
    environment,
    async check(base) {
      if (settings.path === undefined) return undefined
      const key = await readKey(settings).catch(() => undefined)
      if (key === undefined) return `${setting}: the file cannot be read`
      if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) return `${setting}: the file does not hold a private key`
      await copy()
      const { exitCode, stderr } = await runGit({
        program: 'ssh-keygen',
        arguments: ['-y', '-f', copied],
        environment: { ...base, SSH_ASKPASS_REQUIRE: 'force', SSH_ASKPASS: '/bin/false', ...environment() },
        timeoutMs: 10_000,
      })
      if (exitCode === 0) return undefined
      if (stderr.includes('No user exists for uid'))
        return `${setting}: OpenSSH requires an entry for the user ${process.getuid?.()} in /etc/passwd: add one, or install libnss-wrapper`
      return passphrase === undefined
        ? `${setting}: the key cannot be read, or it has a passphrase and ${passphraseSetting} is not set`
        : `${passphraseSetting}: the passphrase does not open the key of ${setting}`
    },
  }
}

async function readKey({ setting, path: file }: KeySettings): Promise<string> {
  try {
    const text = await readFile(file ?? '', 'utf8')
    return `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new GitError('machine', `the file of ${setting} cannot be read, retrying: ${why}`, { cause })
  }
}

/** A concurrent reader finds all of the old text or all of the new one. */
async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  if ((await readIfAny(file)) === text) return
  const written = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(written, text, { mode })
  await rename(written, file)
}

async function readIfAny(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}
