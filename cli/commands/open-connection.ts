import { advise } from '../credential/advise.ts'
import { chooseCredential } from '../credential/choose-credential.ts'
import { createCredentials } from '../credential/credentials.ts'
import { argoWatcherVariables } from '../input/argo-watcher-variables.ts'
import { type ConnectionFlags, connect } from '../input/connection.ts'
import type { Run } from '../run.ts'

/**
 * The service that a command asks, and the credential that it asks with. Nothing is sent yet.
 * `onSecret` hears each secret before it is sent; `advise` says on a line what to do after the service refused it.
 * @throws {ExitError} for flags and variables that cannot be used
 */
export function openConnection(flags: ConnectionFlags, run: Run, onSecret: (secret: string) => void = () => {}) {
  const { variables, stderr, interrupted: signal } = run
  const say = (line: string) => stderr.write(`${line}\n`)
  const argoWatcher = argoWatcherVariables(variables)
  const choice = chooseCredential(flags, variables, argoWatcher)
  const { http, open } = connect(flags, variables, argoWatcher, say)
  const audience = flags.audience || http.server.href.replace(/\/$/, '')
  const onNone = (why: string) => say(`deployment-watcher: ${why}; no credential is sent`)
  const credentials = createCredentials(choice, { audience, open, variables, signal, onSecret, onNone })
  return {
    http,
    credentials,
    /** Of one call, where argo-watcher's TIMEOUT sets it. */
    limitMs: argoWatcher?.callTimeout === undefined ? undefined : argoWatcher.callTimeout * 1_000,
    advise: (isSubmission: boolean) => advise(choice, { audience, isSent: credentials.isSent(), isSubmission }),
  }
}
