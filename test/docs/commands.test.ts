import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reserveIdentityProvider } from '../support/identity-provider.ts'
import { startWorld } from '../support/world.ts'
import { checkout, codeBlocksOf, documents } from './documents.ts'
import { issueDeployToken } from './issue-deploy-token.ts'

const applications = ['shop', 'payments', 'search']
const stack = new AsyncDisposableStack()
let folder: string
let environment: Readonly<Record<string, string | undefined>>
let address: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-docs-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  // A checkout in which commands leave their files.
  for (const entry of await readdir(checkout))
    if (entry !== '.git') await symlink(path.join(checkout, entry), path.join(folder, entry))
  makeSignedCommit()
  const programs = path.join(folder, 'programs')
  await mkdir(programs)
  await symlink(path.join(checkout, 'cli/dist/deployment-watcher.mjs'), path.join(programs, 'deployment-watcher'))
  const idp = stack.use(await reserveIdentityProvider())
  const jwtSecret = 'a secret of at least 32 bytes for the test'
  const settings = { ...idp.settings, JWT_SECRET: jwtSecret, BAD_POD_GRACE: '1s' }
  const world = stack.use(await startWorld({ applications, settings }))
  await idp.start(world.service.url)
  idp.users.set('ada', { preferred_username: 'ada', groups: ['platform'] })
  address = world.service.url
  const except = ['registry.example/payments:v0']
  world.simulator.control.overridePods('payments', { newPods: 'image-pull-error', except })
  const token = await idp.issueOpaqueToken('ada')
  const issued = await issueDeployToken(address, token, ['*'])
  environment = {
    PATH: `${programs}${path.delimiter}${process.env.PATH}`,
    HOME: folder,
    WATCHER: address,
    WATCHER_URL: address,
    TOKEN: 'deploy-token-of-the-tests',
    ACCESS_TOKEN: token,
    ID: issued.id,
    WATCHER_TOKEN: issued.token,
    ARGO_URL: world.simulator.argoUrl,
    ARGO_TOKEN: world.simulator.argoToken,
    ARGO_ADMIN_PASSWORD: world.simulator.adminPassword,
    DATABASE_URL: world.service.databaseUrl,
    JWT_SECRET: jwtSecret,
  }
})
afterAll(() => stack.disposeAsync())

/** What the page about Git hosts verifies. */
function makeSignedCommit(): void {
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: folder, stdio: 'ignore' })
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', 'signing-key')
  run('git', 'init', '-q')
  const identity = ['-c', 'user.name=deployment-watcher', '-c', 'user.email=deployment-watcher@localhost']
  const signing = ['-c', 'gpg.format=ssh', '-c', 'user.signingKey=signing-key']
  run('git', ...identity, ...signing, 'commit', '-q', '-S', '--allow-empty', '-m', 'signed')
}

/** Run elsewhere: a fresh clone installs, starts and tests; api-page.test.ts and .ci/backup have the commands of a page. */
const isRunElsewhere = (document: string, code: string) =>
  ['docs/api.md', 'docs/backup.md'].includes(document) || /^npm ci\b/m.test(code)

const commands = documents.flatMap((document) =>
  codeBlocksOf(document)
    .filter(({ language, code }) => language === 'sh' && !isRunElsewhere(document, code))
    .map(({ heading, code }) => ({ document, heading, code })),
)

describe('a command of the documents works as it is written', () => {
  test.for(commands)('$document: $heading', async ({ code }) => {
    const id = await submitOne()
    const script = code
      .replaceAll(/https:\/\/watcher\.example\.com(?=\/)|http:\/\/127\.0\.0\.1:8080/g, address)
      .replaceAll('<id>', id)
      // What is not published yet, and the registry of the test's applications.
      .replaceAll(/npx (--yes )?deployment-watcher@\S+/g, 'deployment-watcher')
      .replaceAll('registry.example.com/', 'registry.example/')
      .replaceAll('WATCHER_TOKEN=demo', 'WATCHER_TOKEN=deploy-token-of-the-tests')
      .replaceAll('Watcher-Deploy-Token: demo', 'Watcher-Deploy-Token: deploy-token-of-the-tests')
    await expect(
      promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder, env: environment }),
    ).resolves.toBeDefined()
  })
})

/** By the chart's tests; those of the image; the README's fresh clone; the Dockerfile, which does the same. */
const areRunByOtherTests = [
  /^ *(kubectl|helm) /m,
  /^docker (build|compose up) /,
  /^npm ci && npm start$/m,
  /^npm run build$/m,
]

test('a command that needs more than a shell is run by another test', () => {
  const others = documents.flatMap(codeBlocksOf).filter(({ language }) => language === 'console')
  for (const { code } of others)
    expect(
      areRunByOtherTests.some((pattern) => pattern.test(code)),
      code,
    ).toBe(true)
})

/** A task that `<id>` stands for. */
async function submitOne(): Promise<string> {
  const answer = await fetch(`${address}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app: 'shop', author: 'a', project: 'p', images: [{ image: 'x', tag: 'y' }] }),
  })
  return ((await answer.json()) as { id: string }).id
}
