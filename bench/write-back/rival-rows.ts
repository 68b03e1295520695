import { setTimeout as delay } from 'node:timers/promises'
import { quantilesOf } from '../support/quantiles.ts'
import { type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, fullSize } from './generated-repository.ts'
import { startRival } from './rival.ts'
import { startWriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles } from './task-author.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'

const repository = 'gitops'
const rivalMs = 200
const singles = 60
const maxPauseMs = 300
/** A write that has not landed by then has lost against the rival. */
const singleSeconds = 30
const burstSeconds = 100
const bursts = 3

/** One by one and in bursts, with a rival that pushes every 200 ms. */
export async function rivalRows(): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const { author, host } = world
  const directory = host.directory(repository)
  await createRepository(directory, fullSize)
  const since = await tipOf(directory)
  const url = host.url(repository)
  const rival = startRival(directory, rivalMs)
  const alone: EndedWrite[] = []
  for (let at = 0; at < singles; at += 1) {
    alone.push(...(await author.deploy([{ app: appName(at), tag: `s${at}`, repository: url, seconds: singleSeconds }])))
    await delay(Math.random() * maxPauseMs)
  }
  const together: EndedWrite[][] = []
  for (let round = 0; round < bursts; round += 1) {
    const writes = Array.from({ length: 100 }, (_, at) => ({
      app: appName(at),
      tag: `b${round}`,
      repository: url,
      seconds: burstSeconds,
    }))
    together.push(await author.deploy(writes))
  }
  await rival.stop()
  const all = [...alone, ...together.flat()]
  const issues = await verifyRepository(directory, { since, landed: landedFiles(all), foreign: rival.commits })
  const { p50, p95 } = quantilesOf(alone.map(({ latencyMs }) => latencyMs))
  const seconds = together.map((ended) => (lastMs(ended) / 1_000).toFixed(1))
  return [
    exactly(`rival every ${rivalMs} ms: singles landed`, landedOf(alone), singles, reasonsOf(alone)),
    told(
      'singles: p50, p95, pushes for each',
      `${p50.toFixed(0)} ms, ${p95.toFixed(0)} ms, ${meanTries(alone).toFixed(2)}`,
    ),
    exactly('three bursts of 100: landed', landedOf(together.flat()), bursts * 100, reasonsOf(together.flat())),
    told('bursts: each, pushes for each commit', `${seconds.join(', ')} s; ${meanTries(together.flat()).toFixed(2)}`),
    told('commits of the rival, and how often it lost', `${rival.commits.length}, ${rival.losses()}`),
    intact('0 lost updates, 0 forced pushes', issues),
  ]
}

const landedOf = (ended: readonly EndedWrite[]) => ended.filter(({ state }) => state === 'landed').length
/** Why the others did not land. */
const reasonsOf = (ended: readonly EndedWrite[]) =>
  [...new Set(ended.flatMap(({ state, reason }) => (state === 'landed' ? [] : [`${state}: ${reason}`])))].join('; ')
const lastMs = (ended: readonly EndedWrite[]) => Math.max(...ended.map(({ latencyMs }) => latencyMs))
const meanTries = (ended: readonly EndedWrite[]) => ended.reduce((sum, { tries }) => sum + tries, 0) / ended.length
