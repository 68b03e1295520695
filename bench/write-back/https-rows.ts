import { authorityPath, startHttpsGitHost } from '../../test/support/start-https-git-host.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { type BenchRow, intact, told } from './bench-row.ts'
import { appName, createRepository, fullSize } from './generated-repository.ts'
import { startWriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles } from './task-author.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'

const repository = 'gitops.git'
const user = 'bot'
const password = 'token-of-the-bench'

/** The same as over SSH, over HTTPS to git's own server behind TLS: one write-back, and bursts. */
export async function httpsRows(rounds: number): Promise<BenchRow[]> {
  await using host = await startHttpsGitHost({ user, password })
  await using world = await startWriteBackWorld({
    settings: { GIT_CREDENTIALS: `127.0.0.1:${host.port}=${user}:${password}`, GIT_CA_FILE: authorityPath },
  })
  const directory = host.directory(repository)
  await createRepository(directory, fullSize)
  const since = await tipOf(directory)
  const writes: EndedWrite[] = []
  const burst = async (count: number, tag: string): Promise<number> => {
    const apps = Array.from({ length: count }, (_, at) => appName(at))
    const ended = await world.author.deploy(apps.map((app) => ({ app, tag, repository: host.url(repository) })))
    writes.push(...ended)
    return Math.max(...ended.map(({ latencyMs }) => latencyMs))
  }
  await burst(1, 'warm')
  const times: Record<'single' | 'hundred' | 'five', number[]> = { single: [], hundred: [], five: [] }
  for (let round = 0; round < rounds * 3; round += 1) times.single.push(await burst(1, `s${round}`))
  for (let round = 0; round < rounds; round += 1) {
    times.hundred.push(await burst(100, `h${round}`))
    times.five.push(await burst(500, `f${round}`))
  }
  const issues = await verifyRepository(directory, { since, landed: landedFiles(writes), foreign: [] })
  const show = (values: readonly number[]) => {
    const { p50, max } = quantilesOf(values)
    return `${p50.toFixed(0)} ms (at most ${max.toFixed(0)} ms)`
  }
  return [
    told('over HTTPS: one write-back', show(times.single)),
    told('over HTTPS: burst of 100', show(times.hundred)),
    told('over HTTPS: burst of 500', show(times.five)),
    intact('over HTTPS', issues),
  ]
}
