import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { directorySize } from '../../server/gitops/git/cache-limit.ts'
import type { Service } from '../../test/support/service.ts'
import { atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { commitForeign } from './rival.ts'
import { landedTasks, startDeploymentWorld } from './start-deployment-world.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'

const applications = 50
const firstWrites = 500
const sampleMs = 500
/** V8 begins to collect what an idle process has left behind after 100 s at the latest (`kWatchdogDelayMs`, memory-reducer.cc). */
const restMs = 120_000
const mib = 1_024 * 1_024
const bars = { diskMiB: 200, growthMiB: 20 }

/** What thousands of write-backs, and as many foreign commits, leave behind on the disk and in memory. */
export async function lastingRows(writes: number): Promise<BenchRow[]> {
  await using world = await startDeploymentWorld()
  const [service] = world.services as [Service] // the first replica
  const apps = Array.from({ length: applications }, (_, at) => `app-${at}`)
  const directory = await world.createRepository('gitops', apps)
  const since = await tipOf(directory)
  await world.installation.createApplicationsAt(apps, { repoURL: world.host.url('gitops'), targetRevision: 'main' })
  const disk = watchSize(world.cachePath)
  const foreign: string[] = []
  let deployed = 0
  let firstMiB = Number.NaN
  for (let done = 0; done < writes; done += applications) {
    const others = commitSome(directory, applications)
    const ended = await world.untilEnded(await world.deploy(apps, `v${done}`))
    foreign.push(...(await others))
    deployed += ended.filter(({ status }) => status === 'deployed').length
    if (done + applications === firstWrites) firstMiB = await restingMiB(service)
  }
  const lastMiB = await restingMiB(service)
  const largestMiB = (await disk.stop()) / mib
  const issues = await verifyRepository(directory, { since, landed: await landedTasks(world), foreign })
  return [
    exactly('write-backs that ended deployed', deployed, writes),
    told('foreign commits besides', String(foreign.length)),
    atMost('cache and history together, at any moment', largestMiB, bars.diskMiB, ' MB'),
    atMost(
      `RSS, beyond that after the first ${firstWrites}`,
      lastMiB - firstMiB,
      bars.growthMiB,
      ' MB',
      `${firstMiB.toFixed(0)}, then ${lastMiB.toFixed(0)}`,
    ),
    intact('after them', issues),
  ]
}

async function commitSome(directory: string, count: number): Promise<string[]> {
  const made: string[] = []
  while (made.length < count) {
    const commit = await commitForeign(directory)
    if (commit !== undefined) made.push(commit)
  }
  return made
}

/** The least of some samples: what is garbage already does not count. */
async function restingMiB(service: Service): Promise<number> {
  const samples: number[] = []
  for (let at = 0; at < restMs / sampleMs; at += 1) {
    await delay(sampleMs)
    const status = await readFile(`/proc/${service.pid()}/status`, 'utf8')
    samples.push(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024)
  }
  return Math.min(...samples)
}

/** @returns the most bytes that were ever below the folder, when it is stopped */
function watchSize(folder: string) {
  let largest = 0
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      largest = Math.max(largest, await directorySize(folder).catch(() => 0)) // files go while they are counted
      await delay(sampleMs)
    }
  }
  const watching = watch()
  return {
    async stop(): Promise<number> {
      isOver = true
      await watching
      return largest
    },
  }
}
