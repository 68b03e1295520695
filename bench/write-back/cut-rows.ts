import { setTimeout as delay } from 'node:timers/promises'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, smallSize } from './generated-repository.ts'
import { startWriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles } from './task-author.ts'
import { commitsSince, tipOf, verifyRepository } from './verify-repository.ts'

const repositories = 8
const maxCutMs = 400

/** F27: every write's commit is on the branch once, whenever the line breaks. */
export async function cutRows(wanted: number): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const { author, host } = world
  await using line = await startFaultProxy({ port: host.port })
  const names = Array.from({ length: repositories }, (_, at) => `repository-${at}`)
  const since = new Map<string, string>()
  for (const name of names) {
    await createRepository(host.directory(name), smallSize)
    since.set(name, await tipOf(host.directory(name)))
  }
  const ended: EndedWrite[] = []
  let cut = 0
  for (let round = 0; cut < wanted; round += 1) {
    const app = appName(round % smallSize.applications)
    const writes = names.map((name) => ({ app, tag: `c${round}`, repository: host.url(name, line.port) }))
    const queued = await author.queue(writes)
    await delay(Math.random() * maxCutMs)
    const ids = queued.map(({ taskId }) => taskId)
    const [pushing] = await Promise.all([author.openCount(ids, ['pushing']), line.cut()])
    cut += pushing
    ended.push(...(await author.untilEnded(queued)))
  }
  let doubled = 0
  let missing = 0
  const issues: string[] = []
  for (const name of names) {
    const directory = host.directory(name)
    const own = ended.filter(({ repository }) => repository === host.url(name, line.port))
    const commits = await commitsSince(directory, since.get(name) ?? '')
    const counts = new Map(
      [
        ...Map.groupBy(
          commits.flatMap(({ tasks }) => tasks),
          (id) => id,
        ),
      ].map(([id, all]) => [id, all.length]),
    )
    doubled += [...counts.values()].filter((count) => count > 1).length
    missing += own.filter(({ taskId }) => !counts.has(taskId)).length
    issues.push(
      ...(await verifyRepository(directory, { since: since.get(name) ?? '', landed: landedFiles(own), foreign: [] })),
    )
  }
  return [
    told('pushes cut at a random moment, of so many writes', `${cut} of ${ended.length}`),
    exactly('F27: doubled', doubled, 0),
    exactly('F27: missing', missing, 0),
    intact('F27', issues),
  ]
}
