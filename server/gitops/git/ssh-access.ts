import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathList } from '../../settings/path-list.ts'
import type { RepositoryAddress } from '../plan/repository-address.ts'
import type { WriteBackSettings } from '../plan/write-back-settings.ts'
import { configEnvironment, originUrl } from './config-environment.ts'
import { GitError, machineFailure } from './git-error.ts'
import { type GitEnvironment, runGit } from './run-git.ts'

export type SshAccess = {
  /** What git needs to reach an SSH address, over one kept connection for each host, port and user. @throws {GitError} */
  environment(address: RepositoryAddress): Promise<GitEnvironment>
  /** After a time-out: the next command gets a connection of its own, and those under way keep the one they have. */
  leaveConnection(used: GitEnvironment): void
  /** Says what is wrong with SSH_KEY_PATH and SSH_KEY_PASS; undefined: nothing. */
  checkKey(): Promise<string | undefined>
  /** Ends the kept connections. */
  close(): Promise<void>
}

const askPass = '#!/bin/sh\nprintf \'%s\\n\' "$WATCHER_SSH_PASSPHRASE"\n'

/** Keeps in the folder `secrets` what ssh needs: a copy of the key that only we can read, the known hosts, sockets. */
export function openSshAccess(settings: WriteBackSettings, secrets: string, base: GitEnvironment): SshAccess {
  /** By user, host and port; the name of the connection's socket is a part of it. */
  const commands = new Map<string, string>()

  function commandFor({ user, host, port }: RepositoryAddress): string {
    const party = `${user}@${host}:${port ?? 22}`
    const command = commands.get(party) ?? sshCommand(settings, secrets, randomBytes(6).toString('hex'))
    commands.set(party, command)
    return command
  }

  return {
    async environment(address) {
      await copyKey(settings, secrets).catch((error: unknown) => Promise.reject(machineFailure(error)))
      return {
        GIT_SSH_COMMAND: commandFor(address),
        GIT_SSH_VARIANT: 'ssh',
        GIT_ALLOW_PROTOCOL: 'ssh',
        ...configEnvironment([originUrl(address)]),
        ...(settings.sshKeyPass === undefined ? {} : passEnvironment(settings, secrets)),
      }
    },
    leaveConnection(used) {
      for (const [party, command] of commands) if (command === used.GIT_SSH_COMMAND) commands.delete(party)
    },
    checkKey: () => checkSshKey(settings, secrets, base),
    async close() {
      const entries = await readdir(secrets, { withFileTypes: true }).catch(() => []) // somebody may have deleted it
      const sockets = entries.filter((entry) => entry.isSocket()).map(({ name }) => path.join(secrets, name))
      await Promise.all(sockets.map((socket) => endConnection(socket, base)))
    },
  }
}

/** A key with CRLF line ends or a mode that ssh refuses is no fault: the copy has neither. Read anew each time: keys rotate. */
async function copyKey(settings: WriteBackSettings, secrets: string): Promise<void> {
  const key = await readKey(settings)
  const copy = path.join(secrets, 'key')
  if ((await readIfAny(copy)) !== key) {
    const written = `${copy}.${randomBytes(4).toString('hex')}`
    await writeFile(written, key, { mode: 0o400 })
    await rename(written, copy)
  }
  const asker = path.join(secrets, 'askpass')
  if ((await readIfAny(asker)) !== askPass) await writeFile(asker, askPass, { mode: 0o700 })
  // links, so that ssh reads the files as they are now
  for (const [index, file] of knownHosts(settings).entries())
    await symlink(path.resolve(file), knownHostsLink(secrets, index)).catch(ignoreExisting)
}

const knownHosts = ({ knownHostsPath }: WriteBackSettings) => pathList(knownHostsPath ?? '/dev/null')

const knownHostsLink = (secrets: string, index: number) => path.join(secrets, `known_hosts-${index}`)

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

async function readKey({ sshKeyPath }: WriteBackSettings): Promise<string> {
  try {
    const text = await readFile(sshKeyPath ?? '', 'utf8')
    return `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new GitError('machine', `the file of SSH_KEY_PATH cannot be read, retrying: ${why}`, { cause })
  }
}

async function readIfAny(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}

/** A host that went away is noticed within (ServerAliveCountMax + 1) * ServerAliveInterval, decision 0019. */
function sshCommand(settings: WriteBackSettings, secrets: string, socketName: string): string {
  const { sshKeyPass } = settings
  const knownHostsLinks = knownHosts(settings).map((_, index) => knownHostsLink(secrets, index))
  const options = [
    sshKeyPass === undefined ? 'BatchMode=yes' : 'NumberOfPasswordPrompts=1',
    'PreferredAuthentications=publickey',
    'IdentitiesOnly=yes',
    `'UserKnownHostsFile=${knownHostsLinks.join(' ')}'`,
    'GlobalKnownHostsFile=/dev/null',
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    'ConnectTimeout=6',
    'ServerAliveInterval=2',
    'ServerAliveCountMax=3',
    'ControlMaster=auto',
    `ControlPath=${secrets}/${socketName}`,
    'ControlPersist=60',
  ]
  return ['ssh', '-F', 'none', '-i', `${secrets}/key`, ...options.flatMap((option) => ['-o', option])].join(' ')
}

function passEnvironment(settings: WriteBackSettings, secrets: string): GitEnvironment {
  return {
    SSH_ASKPASS: path.join(secrets, 'askpass'),
    SSH_ASKPASS_REQUIRE: 'force',
    WATCHER_SSH_PASSPHRASE: settings.sshKeyPass?.() ?? '',
  }
}

async function checkSshKey(
  settings: WriteBackSettings,
  secrets: string,
  base: GitEnvironment,
): Promise<string | undefined> {
  if (settings.sshKeyPath === undefined) return undefined
  const key = await readKey(settings).catch(() => undefined)
  if (key === undefined) return 'SSH_KEY_PATH: the file cannot be read'
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) return 'SSH_KEY_PATH: the file does not hold a private key'
  await copyKey(settings, secrets)
  const { exitCode } = await runGit({
    program: 'ssh-keygen',
    arguments: ['-y', '-f', `${secrets}/key`],
    environment: { ...base, ...passEnvironment(settings, secrets) },
    timeoutMs: 10_000,
  })
  if (exitCode === 0) return undefined
  return settings.sshKeyPass === undefined
    ? 'SSH_KEY_PATH: the key cannot be read, or it has a passphrase and SSH_KEY_PASS is not set'
    : 'SSH_KEY_PASS: the passphrase does not open the key of SSH_KEY_PATH'
}

async function endConnection(socket: string, base: GitEnvironment): Promise<void> {
  // the socket alone says which connection is meant, but ssh wants the name of a host
  const end = ['-F', 'none', '-o', `ControlPath=${socket}`, '-O', 'exit', 'host']
  await runGit({ program: 'ssh', arguments: end, environment: base, timeoutMs: 5_000 }).catch(() => undefined)
}
