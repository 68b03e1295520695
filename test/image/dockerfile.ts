import { readFileSync } from 'node:fs'

export const checkout = new URL('../..', import.meta.url).pathname
const read = (file: string) => readFileSync(`${checkout}${file}`, 'utf8')

export type Instruction = { readonly name: string; readonly text: string }
export type Stage = { readonly name: string; readonly from: string; readonly instructions: readonly Instruction[] }

/** The stages of the Dockerfile in their order. Each instruction of it is one line. */
export function parseDockerfile(text = read('Dockerfile')): readonly Stage[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? []
    const [, from, stage] = /^(\S+) AS (\w+)$/.exec(rest) ?? []
    if (name === 'FROM' && from && stage) stages.push({ name: stage, from, instructions: [] })
    else stages.at(-1)?.instructions.push({ name, text: rest })
  }
  return stages
}

/** What the last instruction of that name says, and all of the stage itself. */
export const textsOf = ({ instructions }: Stage, name: string) =>
  instructions.filter((one) => one.name === name).map(({ text }) => text)

/** Of `A=1 B=2`. */
export const environmentOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    textsOf(stage, 'ENV').flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])),
  )

/** The program of a stage with its arguments, or of its health check. */
export function commandOf(stage: Stage, name: 'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK'): string[] {
  const text = textsOf(stage, name).at(-1) ?? '[]'
  return JSON.parse(text.slice(text.indexOf('[')))
}

/** What .dockerignore leaves out of the folders that it lets in. */
export const ignored = () => linesOf(read('.dockerignore')).filter((line) => line !== '*' && !line.startsWith('!'))
export const letIn = () =>
  linesOf(read('.dockerignore')).flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
