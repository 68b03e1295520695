import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

const bubblewrap = 'bwrap'
/** Where the files of `SandboxOptions` lie inside. */
export const filesFolder = '/mnt'

type SandboxOptions = {
  readonly root: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Folders outside: the one that may be written to by its place inside, and one that may only be read. */
  readonly data?: { readonly outside: string; readonly inside: string }
  readonly files?: string
}

export type Sandbox = {
  /** Of its first process, as the machine sees it. */
  readonly pid: number
  readonly child: ChildProcess
  /** Resolves with its output at its end. */
  readonly ended: Promise<{ status: number | null; output: string }>
}

/** Runs a program as a Pod of the chart runs it: uid 10001 without capabilities, a read-only root, /tmp and one folder to write to. */
export async function runSandbox({ root, command, environment = {}, data, files }: SandboxOptions): Promise<Sandbox> {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  const args = [
    ['--unshare-all', '--share-net', '--die-with-parent', '--as-pid-1', '--cap-drop', 'ALL'],
    ['--ro-bind', root, '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    data ? ['--bind', data.outside, data.inside] : [],
    files ? ['--ro-bind', files, filesFolder] : [],
    [
      '--clearenv',
      ...Object.entries({ PATH: path, ...environment }).flatMap(([name, value]) => ['--setenv', name, value]),
    ],
    ['--chdir', '/app', '--info-fd', '3', '--', ...command],
  ].flat()
  const child = spawn(bubblewrap, args, { uid: 10_001, gid: 10_001, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const [, stdout, stderr, info] = child.stdio
  if (!stdout || !stderr || !info) throw new Error('the sandbox has no output')
  const output = Promise.all([text(stdout as never), text(stderr as never)])
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const ended = Promise.all([exit, output]).then(([status, texts]) => ({ status, output: texts.join('') }))
  const told = await text(info as never)
  if (told === '') throw new Error(`the sandbox did not start: ${(await ended).output}`)
  return { pid: JSON.parse(told)['child-pid'], child, ended }
}
