import { randomBytes } from 'node:crypto'
import { readdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { pathList } from '../../../settings/path-list.ts'
import type { RepositoryAddress } from '../../plan/repository-address.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { configEnvironment, originUrl } from './config-environment.ts'
import { machineFailure } from './git-error.ts'
import type { KeyFile } from './key-file.ts'
import { type GitEnvironment, runGit } from './run-git.ts'

export type SshAccess = {
  /** What git needs to reach an SSH address, over one kept connection for each host, port and user. @throws {GitError} */
  environment(address: RepositoryAddress): Promise<GitEnvironment>
  /** After a time-out: the next command gets a connection of its own, and those under way keep the one they have. */
  leaveConnection(used: GitEnvironment): void
  /** Ends the kept connections. */
  close(): Promise<void>
}

/** Keeps in the folder `secrets` what ssh needs: a copy of the key that only we can read, the known hosts, sockets. */
export function openSshAccess(
  settings: WriteBackSettings,
  key: KeyFile,
  secrets: string,
  base: GitEnvironment,
): SshAccess {
  /** By user, host and port; the name of the connection's socket is a part of it. */
  const commands = new Map<string, string>()

  function commandFor({ user, host, port }: RepositoryAddress): string {
    const party = `${user}@${host}:${port ?? 22}`
    const command = commands.get(party) ?? sshCommand(settings, key.path, secrets)
    commands.set(party, command)
    return command
  }

  /** Links, so that ssh reads the files as they are now. */
  async function linkKnownHosts(): Promise<void> {
    for (const [index, file] of knownHosts(settings).entries())
      await symlink(path.resolve(file), knownHostsLink(secrets, index)).catch(ignoreExisting)
  }

  return {
    async environment(address) {
      await Promise.all([key.copy(), linkKnownHosts()]).catch((error: unknown) => Promise.reject(machineFailure(error)))
      return {
        GIT_SSH_COMMAND: commandFor(address),
        GIT_SSH_VARIANT: 'ssh',
        GIT_ALLOW_PROTOCOL: 'ssh',
        ...configEnvironment([originUrl(address)]),
        ...key.environment(),
      }
    },
    leaveConnection(used) {
      for (const [party, command] of commands) if (command === used.GIT_SSH_COMMAND) commands.delete(party)
    },
    async close() {
      const entries = await readdir(secrets, { withFileTypes: true }).catch(() => []) // it may have been deleted
      const sockets = entries.filter((entry) => entry.isSocket()).map(({ name }) => path.join(secrets, name))
      await Promise.all(sockets.map((socket) => endConnection(socket, base)))
    },
  }
}

const knownHosts = ({ knownHostsPath }: WriteBackSettings) => pathList(knownHostsPath ?? '/dev/null')

const knownHostsLink = (secrets: string, index: number) => path.join(secrets, `known_hosts-${index}`)

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

/** A host that went away is noticed within (ServerAliveCountMax + 1) * ServerAliveInterval, decision 0019. */
function sshCommand(settings: WriteBackSettings, keyPath: string, secrets: string): string {
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
    `ControlPath=${secrets}/${randomBytes(6).toString('hex')}`,
    'ControlPersist=60',
  ]
  return ['ssh', '-F', 'none', '-i', keyPath, ...options.flatMap((option) => ['-o', option])].join(' ')
}

async function endConnection(socket: string, base: GitEnvironment): Promise<void> {
  // the socket alone says which connection is meant, but ssh wants the name of a host
  const end = ['-F', 'none', '-o', `ControlPath=${socket}`, '-O', 'exit', 'host']
  await runGit({ program: 'ssh', arguments: end, environment: base, timeoutMs: 5_000 }).catch(() => undefined)
}
