import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openConfigFile } from '../../test/support/config-file.ts'
import { withoutLimits } from '../../test/support/service.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { startBenchWorld } from '../support/start-bench-world.ts'
import { measureStage } from './measure-stage.ts'

const rounds = 3
const apps = 100
const apartMs = 50
const hangingTargets = 5
const events = ['started', 'succeeded', 'failed']

/**
 * Ends of rollouts without targets, and beside targets that take requests and never answer, in turn; then how soon a
 * webhook's receiver has the end after it is written.
 */
export async function measureBesideTargets(): Promise<string> {
  await using hanging = await listen(() => undefined)
  const received: number[] = []
  await using receiver = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const atMs = Date.now()
    const { type, data } = JSON.parse(body) as { type: string; data: { updated: number } }
    if (type !== 'deployment.started') received.push(atMs - data.updated * 1_000)
    response.writeHead(204).end()
  })
  using config = openConfigFile({})
  await using world = await startBenchWorld({
    ...withoutLimits,
    CONFIG_FILE: config.file,
    HOOK_SECRET: 'a secret of the bench',
  })
  const names = Array.from({ length: apps }, (_, at) => `told-${at}`)
  await world.installation.createApplications(names, 'told')
  const target = (url: string) => ({ kind: 'webhook', url, secret: { env: 'HOOK_SECRET' }, allow_private: true })
  const tell = (targets: Record<string, object>) =>
    config.write({ notifications: { targets, routes: [{ events, targets: Object.keys(targets), anonymous: true }] } })
  const hangingOnes = Object.fromEntries(
    Array.from({ length: hangingTargets }, (_, at) => [`hanging-${at}`, target(hanging.url)]),
  )
  const measure = async (tag: string) =>
    (await measureStage({ world, apps: names, measured: apps, tag, apartMs, kind: 'announced', repository: 'told-0' }))
      .wait
  const without: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    config.write({})
    without.push(...(await measure(`n${round}`)))
    tell(hangingOnes)
    beside.push(...(await measure(`h${round}`)))
  }
  tell({ well: target(receiver.url) })
  await measure('w')
  for (let waited = 0; received.length < apps && waited < 100; waited += 1)
    await new Promise((next) => setTimeout(next, 100))
  const [plain, hung, told] = [without, beside, received].map(quantilesOf)
  return [
    `verdict without targets: p50 ${plain?.p50} ms, p99 ${plain?.p99} ms (${without.length} ends)`,
    `beside ${hangingTargets} targets that hang: p50 ${hung?.p50} ms, p99 ${hung?.p99} ms (${beside.length} ends)`,
    `ratio of p50 ${((hung?.p50 ?? 0) / (plain?.p50 ?? 1)).toFixed(2)}, of p99 ${((hung?.p99 ?? 0) / (plain?.p99 ?? 1)).toFixed(2)}, bar 1.10`,
    `verdict written until the webhook's receiver has it: p50 ${told?.p50} ms, p99 ${told?.p99} ms (${received.length} ends), bar 1000`,
  ].join('\n')
}

async function listen(handle: RequestListener) {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
