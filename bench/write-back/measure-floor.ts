import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { appName, overridePath } from './generated-repository.ts'
import type { SshHost } from './start-ssh-host.ts'

const rounds = 15

/** What any write-back by git over SSH must take: medians of `git push` of a ready commit, and of an empty command. */
export async function measureFloor(host: SshHost, repository: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'dw-floor-'))
  const warm = `${host.sshCommand} -o ControlMaster=auto -o ControlPath=${folder}/s -o ControlPersist=60`
  const bare = path.join(folder, 'clone.git')
  const from = ['--depth=1', '--single-branch', '--branch=main', '--filter=blob:limit=1k', host.url(repository)]
  const environment = { GIT_SSH_COMMAND: warm }
  await runGit(folder, ['clone', '--quiet', '--bare', ...from, bare], '', environment)
  const address = ['-p', String(host.port), `${host.user}@127.0.0.1`]
  try {
    const push: number[] = []
    const coldPush: number[] = []
    const command: number[] = []
    for (let at = 0; at < rounds; at += 1) {
      for (const [times, sshCommand] of [
        [push, warm],
        [coldPush, host.sshCommand],
      ] as const) {
        const commit = await commitOnTop(bare, at, sshCommand)
        const options = ['push', '--quiet', '--no-verify', host.url(repository), `${commit}:refs/heads/main`]
        times.push(await timed(() => runGit(bare, options, '', { GIT_SSH_COMMAND: sshCommand })))
      }
      if (host.kind === 'sshd') command.push(await timed(() => run(warm, [...address, 'true'])))
    }
    await run(warm, [...address, '-O', 'exit']).catch(() => undefined)
    return { pushMs: quantilesOf(push).p50, coldPushMs: quantilesOf(coldPush).p50, commandMs: quantilesOf(command).p50 }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function commitOnTop(bare: string, at: number, sshCommand: string): Promise<string> {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const override = data(overrideFile(`floor-${at}-${sshCommand.length}`))
  const commit = `commit refs/heads/main\nmark :1\ncommitter F <f@example.org> ${1_800_000_000 + at} +0000\n${data('floor')}`
  const change = `from refs/heads/main^0\nM 100644 inline ${overridePath(appName(at))}\n${override}get-mark :1\n`
  const environment = { GIT_SSH_COMMAND: sshCommand }
  const options = ['fast-import', '--quiet', '--force', '--date-format=raw']
  return (await runGit(bare, options, `${commit}${change}`, environment)).trim()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  await work()
  return performance.now() - beganMs
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const [program = '', ...options] = command.split(' ')
  const [code] = await once(spawn(program, [...options, ...args], { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
}
