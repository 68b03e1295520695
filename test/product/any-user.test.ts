import { spawnSync } from 'node:child_process'
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { checkout } from '../docs/documents.ts'
import { aTask, startService } from '../support/service.ts'
import { createManaged, settingsFor, withToken } from '../support/world.ts'

/** As OpenShift chooses one: without an entry in /etc/passwd, in the group of root. */
const user = 1_000_650_000
const asUser = ['setpriv', `--reuid=${user}`, '--regid=0', '--clear-groups']
const run = (...command: readonly string[]) => {
  const [program = '', ...args] = [...asUser, ...command]
  return spawnSync(program, args, { encoding: 'utf8' })
}
/** Only root may become another user, and that one must be able to read the checkout. */
const isPossible = run('test', '-r', path.join(checkout, 'package.json')).status === 0
const hasLibrary = run('env', 'LD_PRELOAD=libnss_wrapper.so', 'true').stderr === ''

/** A simulator with one application, and what the service needs in folders that the user may read. */
async function prepare() {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'any-user-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const simulator = started.use(await startSimulator({ folder: path.join(folder, 'simulator'), times: fastTimes }))
  await simulator.git.createRepository('gitops', chartFiles('apps/shop', { tag: 'v1' }))
  await createManaged(simulator, 'shop')
  const data = path.join(folder, 'data')
  await mkdir(data)
  await chown(data, user, 0)
  /** With the mode of the chart. */
  const mounted = async (file: string) => {
    const copy = path.join(folder, path.basename(file))
    await copyFile(file, copy)
    await chmod(copy, 0o440)
    return copy
  }
  const { SSH_KEY_PATH, SSH_KNOWN_HOSTS, ...others } = settingsFor(simulator)
  const files = { SSH_KEY_PATH: await mounted(SSH_KEY_PATH), SSH_KNOWN_HOSTS: await mounted(SSH_KNOWN_HOSTS) }
  const resources = started.move()
  return { folder, simulator, data, settings: { ...others, ...files, DATA_DIR: data }, resources }
}

describe.skipIf(!isPossible)('a user without an entry in /etc/passwd', () => {
  let prepared: Awaited<ReturnType<typeof prepare>>
  beforeAll(async () => {
    prepared = await prepare()
  })
  afterAll(() => prepared.resources.disposeAsync())

  test.skipIf(!hasLibrary)('runs the service from a checkout that it cannot write, and commits over SSH', async () => {
    const { settings, simulator, data } = prepared
    expect(run('test', '-w', checkout).status).not.toBe(0)
    await using service = await startService({ settings, through: asUser })
    const task = aTask({ images: [{ image: 'registry.example/shop', tag: 'v2' }] })
    const id = await service.acceptTask(task, withToken)
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    const messages = (await simulator.git.log('gitops')).map(({ message }) => message)
    expect(messages).toContainEqual(expect.stringContaining(`Watcher-Task: ${id}`))
    expect((await stat(path.join(data, 'repositories'))).uid).toBe(user)
  })

  test('needs libnss-wrapper, and startup says so in one sentence', async () => {
    const { settings, folder } = prepared
    const programs = path.join(folder, 'programs')
    await mkdir(programs)
    await writeFile(path.join(programs, 'ssh'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const start = startService({ settings: { ...settings, PATH: `${programs}:${process.env.PATH}` }, through: asUser })
    await expect(start).rejects.toThrow(
      `SSH_KEY_PATH: OpenSSH requires an entry for the user ${user} in /etc/passwd: add one, or install libnss-wrapper`,
    )
  })
})
