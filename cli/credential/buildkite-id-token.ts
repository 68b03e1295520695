import { type ExecFileException, execFile } from 'node:child_process'
import { oneLine, shorten } from '../../contract/fields.ts'
import type { Variables } from '../input/ci-defaults.ts'
import { isJwt } from './credential.ts'

const program = 'buildkite-agent'
const maxWhyLength = 200

type Options = {
  readonly audience: string
  /** The environment of the agent: it finds its access token and its job there, and the program by PATH. */
  readonly variables: Variables
  readonly signal: AbortSignal
  readonly limitMs?: number
}

/**
 * Has the agent of Buildkite request an ID token of the job. No shell reads the audience.
 * Source: https://buildkite.com/docs/agent/cli/reference/oidc
 * @returns a JWT that lives for 5 minutes, or why there is none, without secrets
 * @throws the reason of `signal`
 */
export function requestBuildkiteIdToken(options: Options): Promise<{ token: string } | { why: string }> {
  const { audience, variables, signal, limitMs = 30_000 } = options
  const args = ['oidc', 'request-token', '--audience', audience, '--claim', 'pipeline_id']
  return new Promise((resolve, reject) => {
    const limits = { timeout: limitMs, killSignal: 'SIGKILL', signal, windowsHide: true } as const
    execFile(program, args, { env: { ...variables }, ...limits }, (error, stdout, stderr) => {
      const token = stdout.trim()
      if (signal.aborted) reject(signal.reason)
      else if (error === null && isJwt(token)) resolve({ token })
      else if (error === null) resolve({ why: `${program} printed no token` })
      else resolve({ why: reasonOf(error, limitMs, sayOf(stderr, variables)) })
    })
  })
}

function reasonOf({ code, killed, signal }: ExecFileException, limitMs: number, said: string): string {
  if (killed) return `${program} did not answer within ${limitMs / 1_000} s`
  if (code === 'ENOENT') return `${program} is not in PATH`
  return `${program} ended with ${code ?? signal}${said === '' ? '' : `: ${said}`}`
}

/** The last line of what the agent said; with BUILDKITE_AGENT_DEBUG_HTTP it prints its credentials. */
function sayOf(stderr: string, { BUILDKITE_AGENT_ACCESS_TOKEN: agentToken = '' }: Variables): string {
  const last = stderr.trim().split('\n').at(-1) ?? ''
  const known = agentToken === '' ? last : last.replaceAll(agentToken, '***')
  return shorten(oneLine(known.replace(/[\w-]{16,}(\.[\w-]{16,}){2}/g, '***')), maxWhyLength)
}
