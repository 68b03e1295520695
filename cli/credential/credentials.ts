import type { Http } from '../http/http.ts'
import type { Variables } from '../input/ci-defaults.ts'
import { requestBuildkiteIdToken } from './buildkite-id-token.ts'
import type { CredentialChoice } from './choose-credential.ts'
import { bearer, type Credential, endOf } from './credential.ts'
import { requestGithubIdToken } from './github-id-token.ts'

/** A kept ID token that ends sooner is replaced, seconds. */
const shortestLifeSeconds = 60

/** The credential of a run as time goes by. */
export type Credentials = {
  /**
   * The credential for a request that begins now; undefined where none is sent. An ID token is requested at the first call,
   * and again where less than a minute of it is left.
   * @throws {NoAnswerError | ExitError} where GitHub Actions gives none, or the reason of the run's signal
   */
  readonly current: () => Promise<Credential | undefined>
  /** Whether the last call gave one. */
  readonly isSent: () => boolean
}

type Options = {
  /** What the ID tokens that are requested are for. */
  readonly audience: string
  readonly open: (server: URL) => Http
  readonly variables: Variables
  readonly signal: AbortSignal
  /** Hears each secret before it is sent. */
  readonly onSecret: (secret: string) => void
  /** Hears why no ID token is sent, where the run goes on without one. */
  readonly onNone: (why: string) => void
  /** Unix seconds. */
  readonly now?: () => number
}

export function createCredentials(choice: CredentialChoice, options: Options): Credentials {
  const { signal, onSecret, now = () => Date.now() / 1_000 } = options
  const request = requestOf(choice, options)
  let kept: Credential | undefined
  /** What is kept, or that there is none, stays so for this run. */
  let isSettled = false
  let underWay: Promise<void> | undefined

  const renew = async () => {
    const next = await request()
    isSettled = next === undefined || choice.kind === 'given'
    if (next === undefined) return
    onSecret(next.secret)
    kept = next
  }
  return {
    async current() {
      // An interruption leaves no time for another one.
      if (signal.aborted || isSettled || (kept !== undefined && !endsSoon(kept, now()))) return kept
      // Several tasks are followed at once and ask at the same time.
      underWay ??= renew().finally(() => {
        underWay = undefined
      })
      await underWay
      return kept
    },
    isSent: () => kept !== undefined,
  }
}

/** One whose end cannot be read is kept. */
const endsSoon = ({ secret }: Credential, now: number) => (endOf(secret) ?? Infinity) - now < shortestLifeSeconds

function requestOf(
  choice: CredentialChoice,
  { audience, open, variables, signal, onNone }: Options,
): () => Promise<Credential | undefined> {
  switch (choice.kind) {
    case 'given':
      return async () => choice.credential
    case 'none':
      return async () => undefined
    case 'github':
      return async () => bearer(await requestGithubIdToken({ ...choice, audience, open, signal }))
    case 'buildkite':
      return async () => {
        const result = await requestBuildkiteIdToken({ audience, variables, signal })
        if ('token' in result) return bearer(result.token)
        onNone(`no ID token from Buildkite: ${result.why}`)
        return undefined
      }
  }
}
