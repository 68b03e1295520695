import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'

export type RepositorySize = { readonly applications: number; readonly commits: number }

/** What the bars are about; it takes a minute to make and is kept. */
export const fullSize: RepositorySize = { applications: 2_000, commits: 5_000 }
/** For runs that are not about the size. */
export const smallSize: RepositorySize = { applications: 200, commits: 200 }

const cache = fileURLToPath(new URL('../../node_modules/.cache/bench-write-back', import.meta.url))
const valuesBytes = 3_000
const largeFileBytes = 200_000
const largeFileEvery = 10

export const appName = (at: number) => `app-${at}`
export const overridePath = (app: string) => `apps/${app}/.argocd-source-${app}.yaml`

/** A bare repository of that size at `directory`, as a Git host keeps it, with a log of every move of its branch. */
export async function createRepository(directory: string, size: RepositorySize): Promise<void> {
  const original = path.join(cache, `${size.applications}-${size.commits}.git`)
  if (!existsSync(original)) await generate(original, size)
  await runGit('/', ['clone', '--quiet', '--bare', '--local', original, directory])
  await configure(directory)
}

/** What a Git host allows; nothing is tidied up while something is measured. */
async function configure(directory: string): Promise<void> {
  for (const [name, value] of [
    ['uploadpack.allowFilter', 'true'],
    ['uploadpack.allowAnySHA1InWant', 'true'],
    ['receive.autogc', 'false'],
    ['gc.auto', '0'],
    ['core.logAllRefUpdates', 'true'],
  ] as const)
    await runGit(directory, ['config', name, value])
}

async function generate(directory: string, size: RepositorySize): Promise<void> {
  const draft = `${directory}.${process.pid}`
  await mkdir(draft, { recursive: true })
  await runGit(draft, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  await runGit(draft, ['fast-import', '--quiet', '--date-format=raw'], importStream(size))
  await runGit(draft, ['repack', '-adq'])
  await rm(directory, { recursive: true, force: true })
  await rename(draft, directory)
}

function importStream({ applications, commits }: RepositorySize): string {
  const first = Array.from({ length: applications }, (_, at) => filesOf(at)).flat()
  const later = Array.from({ length: commits - 1 }, (_, at) => {
    const app = appName((at * 7) % Math.ceil(applications / 2))
    return commit(at + 2, `Change ${app}`, [file(overridePath(app), overrideFile(`v0.${at}`))])
  })
  return [commit(1, 'Start', first), ...later].join('')
}

/** Half of the applications have an override file, one in ten a large file besides. */
function filesOf(at: number): string[] {
  const app = appName(at)
  return [
    file(`apps/${app}/values.yaml`, noise(at, valuesBytes)),
    ...(at % 2 === 0 ? [file(overridePath(app), overrideFile('v0'))] : []),
    ...(at % largeFileEvery === 0 ? [file(`apps/${app}/dashboard.json`, noise(at, largeFileBytes))] : []),
  ]
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
const file = (name: string, text: string) => `M 100644 inline ${name}\n${data(text)}`

function commit(at: number, message: string, files: readonly string[]): string {
  const who = `Generator <generator@example.org> ${1_700_000_000 + at * 60} +0000`
  return `commit refs/heads/main\ncommitter ${who}\n${data(message)}${files.join('')}`
}

/** Text that does not compress well, the same in every run. */
function noise(seed: number, bytes: number): string {
  let state = seed * 2_654_435_761 + 1
  const lines: string[] = []
  for (let length = 0; length < bytes; length += 41) {
    let line = '# '
    while (line.length < 40) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      line += state.toString(36)
    }
    lines.push(line.slice(0, 40))
  }
  return `${lines.join('\n')}\n`
}
