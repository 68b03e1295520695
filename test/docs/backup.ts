import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describeSchema } from '../schema/describe-schema.ts'
import { claimPort } from '../support/claim-port.ts'
import { readEvents } from '../support/event-reader.ts'
import { prepareDatabase } from '../support/template-database.ts'
import { startWorld } from '../support/world.ts'

/**
 * `.ci/backup` runs the commands of docs/backup.md with the PostgreSQL of the system, whose programs are in
 * POSTGRES_BIN. Prints one line, and ends with 1 where something did not come back.
 */
const bin = process.env.POSTGRES_BIN ?? ''
const documented = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8')
const commands = [...documented.matchAll(/^ *(?:pg_dump|psql|pg_restore) .*$/gm)].map(([command]) => command.trim())

await using cluster = await startCluster()
const source = cluster.urlOf('postgres')
await prepareDatabase(source)
const failures: string[] = []
const expectEqual = (what: string, found: unknown, expected: unknown) => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    failures.push(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}

await using world = await startWorld({ databaseUrl: source, applications: ['shop', 'web'] })
const { service } = world
const before = await world.deploy('shop', 'v2')
await service.waitForEnd(before)
const unfinished = await world.deploy('web', 'v2')
const schema = await describeSchema(source)
run(commands.filter((command) => command.startsWith('pg_dump')))
await service.waitForEnd(unfinished)
const after = await world.deploy('shop', 'v3')
await service.waitForEnd(after)
const reader = await readEvents(`${service.url}/api/v1/events?after=0`)
for (const end = performance.now() + 10_000; !reader.events.some(({ task_id }) => task_id === after); )
  if (performance.now() > end) throw new Error('no event came')
  else await new Promise((resolve) => setTimeout(resolve, 50))
const position = reader.position()
reader.close()
await service.kill('SIGTERM')

run(commands.filter((command) => !command.startsWith('pg_dump')))
expectEqual('the schema', await describeSchema(source), schema)
await service.restart()
expectEqual('a task that had ended', (await service.getTask(before)).status, 'deployed')
expectEqual('a task that had not ended', (await service.waitForEnd(unfinished)).status, 'deployed')
expectEqual('a task of later', (await service.request(`/api/v1/tasks/${after}`)).status, 404)
const ahead = await readEvents(`${service.url}/api/v1/events`, { lastEventId: position })
for (const end = performance.now() + 10_000; ahead.resets.length === 0 && performance.now() < end; )
  await new Promise((resolve) => setTimeout(resolve, 50))
expectEqual('resets of a reader that is ahead', ahead.resets.length, 1)
ahead.close()
expectEqual('a new task', (await service.waitForEnd(await world.deploy('shop', 'v4'))).status, 'deployed')
const commits = (await world.commits()).map(({ message }) => /Watcher-Task: (\S+)/.exec(message)?.[1])
expectEqual('commits of the task that was restored', commits.filter((id) => id === unfinished).length, 1)

console.log(
  failures.length === 0
    ? `backup and restore with ${cluster.version}: everything came back`
    : `backup and restore with ${cluster.version}: ${failures.join('; ')}`,
)
process.exitCode = failures.length === 0 ? 0 : 1

function run(lines: readonly string[]): void {
  for (const line of lines) {
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, DATABASE_URL: source }
    const { status, stderr } = spawnSync('sh', ['-c', line], { env, cwd: cluster.folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${line}\n${stderr}`)
  }
}

/** PostgreSQL does not run as root. */
async function startCluster() {
  const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-backup-'))
  chmodSync(folder, 0o755)
  const data = path.join(folder, 'data')
  const port = await claimPort()
  const nobody = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, nobody, nobody)
  const asServer = (program: string, ...args: string[]) =>
    execFileSync(path.join(bin, program), args, { stdio: 'ignore', cwd: folder, ...(isRoot ? { uid: nobody } : {}) })
  asServer('initdb', '-D', data, '-U', 'owner', '--auth=trust')
  asServer('pg_ctl', '-D', data, '-w', '-l', path.join(folder, 'log'), '-o', `-p ${port} -h 127.0.0.1 -k ''`, 'start')
  return {
    folder,
    version: execFileSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).trim(),
    urlOf: (database: string) => `postgres://owner@127.0.0.1:${port}/${database}`,
    async [Symbol.asyncDispose]() {
      asServer('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
