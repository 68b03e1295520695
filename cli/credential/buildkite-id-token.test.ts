import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { requestBuildkiteIdToken } from './buildkite-id-token.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

const agentToken = 'se-cret-of-the-agent'
const token = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovLyJ9.c2lnbmF0dXJlLWluLWJhc2U2NA'

/** A PATH with a program `buildkite-agent` of this script, or without one. */
async function pathWith(script?: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'buildkite-agent-'))
  folders.push(folder)
  await mkdir(path.join(folder, 'bin'))
  const program = path.join(folder, 'bin', 'buildkite-agent')
  if (script !== undefined) {
    await writeFile(program, `#!/bin/sh\n${script}\n`)
    await chmod(program, 0o755)
  }
  return path.dirname(program)
}

type Options = Partial<Parameters<typeof requestBuildkiteIdToken>[0]>

async function request(script?: string, { audience = 'https://watcher.example', ...options }: Options = {}) {
  const variables = { PATH: await pathWith(script), BUILDKITE_AGENT_ACCESS_TOKEN: agentToken }
  const signal = new AbortController().signal
  return requestBuildkiteIdToken({ audience, variables, signal, ...options })
}

test('the token that the agent prints', async () => {
  expect(await request(`echo ${token}`)).toEqual({ token })
})

test('the audience is one argument, which no shell reads', async () => {
  const audience = 'https://watcher.example/$(exit 3);"a b"'
  const script = `printf '%s|' "$#" "$@" >&2; exit 1`
  const why = `buildkite-agent ended with 1: 6|oidc|request-token|--audience|${audience}|--claim|pipeline_id|`
  expect(await request(script, { audience })).toEqual({ why })
})

test.for([
  ['no agent', undefined, 'buildkite-agent is not in PATH'],
  ['nothing printed', 'exit 0', 'buildkite-agent printed no token'],
  ['something else printed', 'echo "see https://buildkite.com"', 'buildkite-agent printed no token'],
  [
    'a failure',
    'echo first >&2; echo "422 invalid audience" >&2; exit 1',
    'buildkite-agent ended with 1: 422 invalid audience',
  ],
  ['a failure without a word', 'exit 7', 'buildkite-agent ended with 7'],
  ['a crash', 'kill -SEGV $$', 'buildkite-agent ended with SIGSEGV'],
  [
    'its credential',
    'echo "Token $BUILDKITE_AGENT_ACCESS_TOKEN" >&2; exit 1',
    'buildkite-agent ended with 1: Token ***',
  ],
  ['its ID token', `echo "token ${token}" >&2; exit 1`, 'buildkite-agent ended with 1: token ***'],
  ['control characters', `printf '\\033[31mred\\r::x' >&2; exit 1`, 'buildkite-agent ended with 1: [31mred ::x'],
] as const)('%s: no token, and why', async ([, script, why]) => expect(await request(script)).toEqual({ why }))

test('an agent that hangs, also with programs of its own', async () => {
  const why = 'buildkite-agent did not answer within 0.2 s'
  expect(await request('/bin/sleep 60', { limitMs: 200 })).toEqual({ why })
})

test('an interruption ends the agent', async () => {
  const interruption = new AbortController()
  const asked = request('exec /bin/sleep 60', { signal: interruption.signal })
  interruption.abort()
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
})
