import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The program. */
    helm: string
  }
}

const version = 'v3.22.0'
const cache = fileURLToPath(new URL(`../../node_modules/.cache/helm-${version}`, import.meta.url))

/** The one on the PATH, else the one that Go builds from its source. */
export default function findHelm(project: TestProject): void {
  project.provide('helm', isProgram('helm') ? 'helm' : builtHelm())
}

const run = (program: string, args: readonly string[]) =>
  spawnSync(program, args, { env: { ...process.env, GOBIN: cache }, encoding: 'utf8' })
const isProgram = (name: string) => run(name, ['version']).error === undefined

function builtHelm(): string {
  const helm = `${cache}/helm`
  if (existsSync(helm)) return helm
  if (!isProgram('go')) throw new Error(`helm not found: install helm ${version}, or Go, which then builds it`)
  const args = ['install', `helm.sh/helm/v3/cmd/helm@${version}`]
  const { status, stderr } = run('go', args)
  if (status !== 0) throw new Error(`helm not found, and "go ${args.join(' ')}" failed:\n${stderr}`)
  return helm
}
