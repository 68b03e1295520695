import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { checkout, codeBlocksOf } from '../docs/documents.ts'
import { claimPort } from '../support/claim-port.ts'

const port = await claimPort()
const environment = { ...process.env, PORT: `${port}`, COMPOSE_PROJECT_NAME: `watcher-${port}`, COMPOSE_ANSI: 'never' }
const run = (program: string, ...args: string[]) =>
  promisify(execFile)(program, args, { cwd: checkout, env: environment })

spawn('bash', ['-c', commandOf('docs/install.md', 'docker compose ')], {
  cwd: checkout,
  env: environment,
  stdio: 'inherit',
})
afterAll(() => run('docker', 'compose', 'down', '--volumes', '--rmi=local'))

function commandOf(document: string, beginning: string): string {
  const block = codeBlocksOf(document).find(({ code }) => code.startsWith(beginning))
  if (!block) throw new Error(`${document} has no command that begins with ${beginning}`)
  return block.code.trim().replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
}

test('what compose.yaml starts deploys by the command of the README', async () => {
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok
  await expect.poll(isReady, { timeout: 500_000 }).toBe(true)
  expect((await run('bash', '-c', commandOf('README.md', 'task='))).stdout).toContain('"status":"deployed"')
})
