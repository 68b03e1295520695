import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const folder = path.join(checkout, 'action')
/** That of GitHub's runners. */
const node = path.join(checkout, `node_modules/node-linux-${process.arch}/bin/node`)

type Values = Readonly<Record<string, string>>
export type StepEnd = {
  readonly code: number | null
  readonly log: string
  readonly outputs: Values
  readonly state: Values
  readonly summary: string
}
type Step = {
  readonly inputs?: Values
  /** What the job has beside the runner's own variables. */
  readonly variables?: Values
}

const files = { GITHUB_OUTPUT: 'output', GITHUB_STATE: 'state', GITHUB_STEP_SUMMARY: 'summary' } as const

/** Runs `main` or `post` of the committed Action as GitHub's runner does, with its defaults of inputs and its files. */
export async function startStep(phase: 'main' | 'post', { inputs = {}, variables = {} }: Step) {
  const { runs, inputs: declared } = parse(await readFile(path.join(folder, 'action.yml'), 'utf8'))
  const work = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-action-'))
  const pathOf = (name: string) => path.join(work, name)
  for (const name of Object.values(files)) await writeFile(pathOf(name), '')
  const child = spawn(node, [path.join(folder, runs[phase])], {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      ...ofRunner,
      ...Object.fromEntries(Object.entries(files).map(([variable, name]) => [variable, pathOf(name)])),
      ...Object.fromEntries(
        Object.entries(declared as Record<string, { default?: string }>).map(([name, input]) => [
          `INPUT_${name.toUpperCase()}`,
          inputs[name] ?? input.default ?? '',
        ]),
      ),
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const log = () => Buffer.concat(chunks).toString()
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).then(async (code): Promise<StepEnd> => {
    const [outputs = '', state = '', summary = ''] = await Promise.all(
      Object.values(files).map((name) => readFile(pathOf(name), 'utf8')),
    )
    await rm(work, { recursive: true })
    return { code, log: log(), outputs: valuesOf(outputs), state: valuesOf(state), summary }
  })
  return { log, signal: (signal: NodeJS.Signals) => child.kill(signal), ended }
}

export const runStep = async (...parameters: Parameters<typeof startStep>): Promise<StepEnd> =>
  (await startStep(...parameters)).ended

/** The variables of `post` that bring back what `main` kept. */
export const stateVariables = (state: Values): Values =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [`STATE_${name}`, value]))

const ofRunner = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_ACTOR: 'ada',
  GITHUB_REPOSITORY: 'team/shop',
  GITHUB_SHA: 'abc',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_SERVER_URL: 'https://github.com',
}

/** As the runner reads its files: `name<<end`, lines, `end`. Of several values with one name the last counts. */
function valuesOf(text: string): Values {
  const values: Record<string, string> = {}
  const lines = text.split('\n')
  while (lines.length > 1) {
    const [name = '', end = ''] = lines.shift()?.split('<<') ?? []
    const length = lines.indexOf(end)
    if (name === '' || end === '' || length < 0) throw new Error(`the runner cannot read this: ${text}`)
    values[name] = lines
      .splice(0, length + 1)
      .slice(0, -1)
      .join('\n')
  }
  return values
}
