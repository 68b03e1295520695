import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnGuarded, stopChild } from '../../launcher/guarded-child.mjs'
import { loadHostKeys } from '../../simulator/git-host/host-keys.ts'
import { startSshGitHost } from '../../simulator/git-host/ssh-git-host.ts'
import { claimPort } from '../../test/support/claim-port.ts'
import { findProgram } from './find-program.ts'

const startLimitMs = 10_000

export type SshHost = Awaited<ReturnType<typeof startSshHost>>

/** Serves the bare repositories of a folder: by a private sshd, or by the simulator's Git host where there is no sshd. */
export async function startSshHost(repositories: string) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-ssh-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const keys = loadHostKeys(folder)
  const program = findProgram('sshd')
  const port =
    program === undefined
      ? started.adopt(await startSshGitHost({ folder: repositories, keys }), (host) => host.close()).port
      : await startSshd(program, folder, started)
  const hostKey =
    program === undefined
      ? (await readFile(keys.knownHostsPath, 'utf8')).split(' ').slice(1).join(' ')
      : await readFile(path.join(folder, 'host-key.pub'), 'utf8')
  const knownHostsPath = path.join(folder, 'known-hosts-of-any-port')
  await writeFile(knownHostsPath, `[127.0.0.1]:* ${hostKey.trim()}\n`)
  const user = program === undefined ? 'git' : userInfo().username
  const root = program === undefined ? '' : repositories
  const stack = started.move()
  return {
    kind: program === undefined ? "the simulator's Git host" : 'sshd',
    user,
    port,
    keyPath: keys.clientKeyPath,
    knownHostsPath,
    directory: (name: string) => path.join(repositories, `${name}.git`),
    /** At another port, where a proxy listens. */
    url: (name: string, at = port) => `ssh://${user}@127.0.0.1:${at}${root}/${name}.git`,
    /** Another spelling of the same address. */
    otherUrl: (name: string) => `ssh://${user}@127.0.0.1:${port}${root}/${name}`,
    /** A stock Git host finds `name.git` under both names; the simulator's has a link. */
    allowOtherUrl: (name: string) =>
      program === undefined ? symlink(`${name}.git`, path.join(repositories, name)) : Promise.resolve(),
    /** As a person's git would call ssh: no connection is kept. */
    sshCommand: ['ssh', '-F', 'none', '-i', keys.clientKeyPath, ...plainOptions(knownHostsPath)].join(' '),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const plainOptions = (knownHostsPath: string) =>
  [
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    `UserKnownHostsFile=${knownHostsPath}`,
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
  ].flatMap((option) => ['-o', option])

async function startSshd(program: string, folder: string, started: AsyncDisposableStack): Promise<number> {
  const port = await claimPort()
  const config = path.join(folder, 'sshd_config')
  await writeFile(
    config,
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${path.join(folder, 'host-key')}`,
      'PidFile none',
      `AuthorizedKeysFile ${path.join(folder, 'client-key.pub')}`,
      'StrictModes no', // the keys lie in the temporary folder
      'UsePAM no',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'KexAlgorithms curve25519-sha256',
      'AcceptEnv GIT_PROTOCOL',
      'SetEnv SHLVL=2', // else bash reads the account's .bashrc
      'MaxStartups 200',
      'LogLevel QUIET\n',
    ].join('\n'),
  )
  const args = ['-D', '-e', '-f', config]
  const child = spawnGuarded({ command: program, args, stopSignal: 'TERM', stdout: 'inherit', stderr: 'inherit' })
  started.defer(() => stopChild(child, 'SIGTERM', startLimitMs))
  for (const limit = performance.now() + startLimitMs; !(await answers(port)); await delay(20))
    if (child.exitCode !== null || performance.now() > limit) throw new Error(`${program} did not start`)
  return port
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port })
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
