import { exitCodes } from '../../contract/exit-codes.ts'
import type { Outcome } from '../follow/outcome.ts'
import { createApi } from '../http/api.ts'
import { argoWatcherVariables } from '../input/argo-watcher-variables.ts'
import { type ConnectionFlags, connect, credentialOf } from '../input/connection.ts'
import { type DeployFlags, submissionsOf } from '../input/submissions.ts'
import { createScreen, type Screen } from '../output/screen.ts'
import type { Run } from '../run.ts'
import { deployAll, followAll, renderJson, reportAll } from './deployments.ts'

type OutputFlags = { readonly output: 'text' | 'json' }
type Flags = ConnectionFlags & OutputFlags & { readonly cancelOnInterrupt?: boolean }

/** `deploy`. @returns the exit code */
export async function runDeploy(flags: Flags & DeployFlags & { readonly detach?: boolean }, run: Run): Promise<number> {
  const argoWatcher = argoWatcherVariables(run.variables)
  const submissions = submissionsOf(flags, run.variables, argoWatcher)
  const names = submissions.map(({ submission }) => submission.app)
  return inConnection(flags, run, names, (options) =>
    deployAll(submissions, { ...options, isDetached: flags.detach === true }),
  )
}

/** `wait`. @returns the exit code */
export const runWait = (ids: readonly string[], flags: Flags, run: Run): Promise<number> =>
  inConnection(flags, run, ids, (options) => followAll(ids, options))

type Options = Parameters<typeof followAll>[1]

async function inConnection(
  flags: Flags,
  run: Run,
  names: readonly string[],
  act: (options: Options) => Promise<readonly Outcome[]>,
): Promise<number> {
  const { variables, interrupted } = run
  const argoWatcher = argoWatcherVariables(variables)
  const credential = credentialOf(flags, variables, argoWatcher)
  const http = connect(flags, variables, argoWatcher, (line) => run.stderr.write(`${line}\n`))
  const limitMs = argoWatcher?.callTimeout === undefined ? undefined : argoWatcher.callTimeout * 1_000
  const api = createApi({ http, headers: credential?.headers ?? {}, limitMs })
  const isJson = flags.output === 'json'
  const screen: Screen = createScreen({ output: isJson ? run.stderr : run.stdout, variables, names })
  if (credential !== undefined) screen.mask(credential.secret)
  try {
    const outcomes = await act({ api, screen, interrupted, cancelOnInterrupt: flags.cancelOnInterrupt === true })
    screen.end()
    if (isJson) run.stdout.write(`${renderJson(outcomes, api)}\n`)
    if (interrupted.aborted) return exitCodes.interrupted
    return reportAll(outcomes, screen, api)
  } finally {
    screen.end()
    http.close()
  }
}
