import { exitCodes } from '../../contract/exit-codes.ts'
import type { Credential } from '../credential/credential.ts'
import { ExitError } from '../exit.ts'
import type { Outcome } from '../follow/outcome.ts'
import { createApi } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import { argoWatcherVariables } from '../input/argo-watcher-variables.ts'
import type { ConnectionFlags } from '../input/connection.ts'
import { type DeployFlags, submissionsOf } from '../input/submissions.ts'
import { renderJson } from '../output/json.ts'
import { createScreen, type Screen } from '../output/screen.ts'
import type { Run } from '../run.ts'
import { deployAll, followAll, type Options, reportAll } from './deployments.ts'
import { openConnection } from './open-connection.ts'

type OutputFlags = { readonly output: 'text' | 'json' }
type Flags = ConnectionFlags & OutputFlags & { readonly cancelOnInterrupt?: boolean }

/** `deploy`. @returns the exit code */
export async function runDeploy(flags: Flags & DeployFlags & { readonly detach?: boolean }, run: Run): Promise<number> {
  const argoWatcher = argoWatcherVariables(run.variables)
  const submissions = submissionsOf(flags, run.variables, argoWatcher)
  const names = submissions.map(({ submission }) => submission.app)
  return inConnection(flags, run, { names, isSubmission: true }, (options) =>
    deployAll(submissions, { ...options, isDetached: flags.detach === true }),
  )
}

/** `wait`. @returns the exit code */
export const runWait = (ids: readonly string[], flags: Flags, run: Run): Promise<number> =>
  inConnection(flags, run, { names: ids, isSubmission: false }, async (options) => {
    await options.openApi() // an ID token that is not given ends the run here
    return followAll(ids, options)
  })

async function inConnection(
  flags: Flags,
  run: Run,
  { names, isSubmission }: { readonly names: readonly string[]; readonly isSubmission: boolean },
  act: (options: Options) => Promise<readonly Outcome[]>,
): Promise<number> {
  const { variables, interrupted, listener } = run
  const { http, credentials, limitMs, advise } = openConnection(flags, run, (secret) => screen.mask(secret))
  const isJson = flags.output === 'json'
  const screen: Screen = createScreen({ output: isJson ? run.stderr : run.stdout, variables, names })
  const apiOf = (credential: () => Promise<Credential | undefined>) =>
    createApi({
      http,
      headers: async () => (await credential())?.headers ?? {},
      traceparent: /^[\da-f-]{55}$/.exec(variables.TRACEPARENT?.trim() ?? '')?.[0],
      limitMs,
    })
  const api = apiOf(credentials.current)
  const openApi = async () => {
    const credential = await credentials.current()
    return apiOf(async () => credential)
  }
  const cancelOnInterrupt = flags.cancelOnInterrupt === true
  try {
    const options = {
      api,
      openApi,
      screen,
      interrupted,
      listener,
      cancelOnInterrupt,
      advise: () => advise(isSubmission),
    }
    const outcomes = await act(options)
    screen.end()
    listener?.onEnd(outcomes, api.pageOf)
    if (isJson) run.stdout.write(renderJson(outcomes, api.pageOf))
    if (interrupted.aborted) return exitCodes.interrupted
    return reportAll(outcomes, screen, api)
  } catch (error) {
    if (interrupted.aborted) throw new ExitError(exitCodes.interrupted, 'interrupted')
    if (error instanceof NoAnswerError) throw new ExitError(exitCodes.unreachable, error.message)
    throw error
  } finally {
    screen.end()
    http.close()
  }
}
