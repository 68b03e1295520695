import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** One attack of limited length; all it has opened is closed at its end. */
type Attack = (target: Target) => Promise<void>
export type Target = {
  readonly port: number
  /** Of METRICS_PORT. */
  readonly metricsPort: number
  /** Tasks that are under way. */
  readonly taskIds: readonly string[]
  readonly untilMs: number
}

/** Who is measured has another address: limits for an address must not hit those who do no harm. */
const localAddress = '127.0.0.66'
/** One address holds a tenth of all connections, so those who want more come from several. */
const oneOfAddresses = (at: number) => `127.0.0.${66 + (at % 16)}`
const forwarded = 'X-Forwarded-For: 203.0.113.7\r\n'

/** From one machine: it has to make them, too, beside the service that it attacks. */
const connectionsPerSecond = 500

const isOver = ({ untilMs }: Target) => performance.now() >= untilMs

const get = (path: string, headers = '') => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

function post(path: string, body: string, headers = ''): string {
  const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return `POST /api/v1${path} HTTP/1.1\r\nHost: x\r\n${length}${headers}\r\n${body}`
}

/** Connections that send something again and again and read whatever comes. A refused one is opened again. */
async function repeatOn(target: Target, connections: number, next: () => string): Promise<void> {
  const work = async () => {
    while (!isOver(target)) await exchangeUntilOver(target, next)
  }
  await Promise.all(Array.from({ length: connections }, work))
}

async function exchangeUntilOver(target: Target, next: () => string): Promise<void> {
  const socket = open(target)
  const closed = closeOf(socket)
  while (!isOver(target) && !socket.destroyed) {
    socket.write(next())
    const answered = once(socket, 'data').catch(() => undefined)
    await Promise.race([answered, closed, delay(2_000)])
  }
  socket.destroy()
}

function open({ port }: Pick<Target, 'port'>, address = localAddress): Socket {
  return connect({ port, host: '127.0.0.1', localAddress: address }).on('error', () => undefined)
}

/** A connection that was reset is closed, too. */
const closeOf = (socket: Socket): Promise<unknown[]> => once(socket, 'close').catch(() => [])

/** Connections that send something and never read; those that are closed are opened again. */
async function holdOpen(
  target: Target,
  connections: number,
  request: (at: number) => string,
  addressOf?: (at: number) => string,
): Promise<void> {
  const hold = async (at: number) => {
    await delay((at / connectionsPerSecond) * 1_000)
    while (!isOver(target)) {
      const socket = open(target, addressOf?.(at))
      const closed = closeOf(socket)
      socket.pause().write(request(at))
      await Promise.race([closed, delay(Math.max(0, target.untilMs - performance.now()))])
      socket.destroy()
      await delay(100)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, at) => hold(at)))
}

let names = 0
function inventedTask(): string {
  names += 1
  const images = Array.from({ length: 50 }, (_, at) => ({
    image: `x/${names}-${at}`.padEnd(150, 'y'),
    tag: 'v'.repeat(150),
  }))
  return JSON.stringify({ app: `invented-${names}`, author: 'x', project: 'x', images, timeout: 86_400 })
}

const oneOf = <Item>(items: readonly Item[], at: number) => items[at % items.length] as Item // there are some

const mebibyte = 1024 * 1024
const pipelined = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(130_000)

/** A submission of which a byte is missing for ever. */
function unfinishedBody(sentBytes: number): string {
  const length = `Content-Type: application/json\r\nContent-Length: ${mebibyte}\r\n`
  return `POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\n${length}${forwarded}\r\n${' '.repeat(sentBytes)}`
}

const smallTask = () => {
  names += 1
  return JSON.stringify({
    app: `small-${names}`,
    author: 'x',
    project: 'x',
    images: [{ image: 'x', tag: 'v' }],
    timeout: 60,
  })
}

/** Asks once in half a second, each time on a connection of its own. */
async function answersTo(target: Target, next: () => string, address: string) {
  const answers: { readonly status: number; readonly ms: number }[] = []
  await delay(1_000)
  while (performance.now() < target.untilMs - 2_000) {
    const askedMs = performance.now()
    const socket = open(target, address)
    socket.write(next())
    const first = await Promise.race([once(socket, 'data').catch(() => []), closeOf(socket), delay(5_000, [])])
    answers.push({ status: Number(String(first?.[0]).slice(9, 12)), ms: performance.now() - askedMs })
    socket.destroy()
    await delay(500)
  }
  return answers
}

export const attacks: Readonly<Record<string, Attack>> = {
  'nothing but the rollouts': ({ untilMs }) => delay(untilMs - performance.now()),
  '6 readers of 50 lists each that read nothing': (target) => holdOpen(target, 6, () => get('/tasks').repeat(50)),
  '300 readers of lists and events that read nothing': (target) =>
    holdOpen(target, 300, (at) => (at % 2 === 0 ? get('/tasks') : get('/events')).repeat(5)),
  '16 readers of lists': (target) => repeatOn(target, 16, () => get('/tasks')),
  '16 readers of deep offsets and searches': (target) => {
    let turn = 0
    return repeatOn(target, 16, () => {
      turn += 1
      return turn % 2 === 0 ? get(`/tasks?offset=${90_000 + turn}`) : get(`/tasks?search=${turn % 90}x`)
    })
  },
  '16 readers of summaries of all windows': (target) => {
    let turn = 0
    return repeatOn(target, 16, () => get(`/apps/summary?days=${(turn++ % 90) + 1}`))
  },
  '32 submitters of invented applications': (target) =>
    repeatOn(target, 32, () => post('/tasks', inventedTask(), forwarded)),
  '3,000 waits and 3,000 streams': async (target) => {
    const waits = holdOpen(
      target,
      3_000,
      (at) => get(`/tasks/${oneOf(target.taskIds, at)}?wait=60`, forwarded),
      oneOfAddresses,
    )
    await Promise.all([
      waits,
      holdOpen(target, 3_000, () => get('/events', `Accept: text/event-stream\r\n${forwarded}`), oneOfAddresses),
    ])
  },
  '4 connections with 5 MB of requests behind a stream': (target) =>
    holdOpen(target, 4, () => get('/events', 'Accept: text/event-stream\r\n') + pipelined),
  '4 connections with 5 MB of requests at the metrics port': (target) =>
    holdOpen({ ...target, port: target.metricsPort }, 4, () => pipelined),
  '800 bodies one byte short of 1 MiB': (target) =>
    holdOpen(target, 800, () => unfinishedBody(mebibyte - 1), oneOfAddresses),
  '64 slow bodies of 1 MiB beside small ones of one address': async (target) => {
    const address = '127.0.0.98' // what others have submitted counts for theirs
    const slow = holdOpen(
      target,
      64,
      () => unfinishedBody(mebibyte / 2),
      () => address,
    )
    const answers = await answersTo(target, () => post('/tasks', smallTask()), address)
    await slow
    console.log(
      `small submissions beside slow bodies: ${answers.filter(({ status }) => status === 202).length} of ${answers.length} accepted`,
    )
  },
  '100 readers of lists beside one of another address': async (target) => {
    const readers = repeatOn(target, 100, () => get('/tasks'))
    const answers = await answersTo(target, () => get('/tasks?limit=5'), '127.0.0.99')
    await readers
    console.log(`limit=5 beside 100 lists: at most ${Math.max(...answers.map(({ ms }) => ms)).toFixed(0)} ms`)
  },
  '50 streams of tasks behind 100,000 foreign events': (target) =>
    repeatOn(target, 50, () =>
      get(`/tasks/${oneOf(target.taskIds, Math.floor(Math.random() * 1e6))}/events`, 'Accept: text/event-stream\r\n'),
    ),
  '16 senders of junk access tokens': (target) => {
    let turn = 0
    return repeatOn(target, 16, () => {
      turn += 1
      return post('/deploy-lock', '{}', `Oidc-Authorization: Bearer junk-${turn}\r\n`)
    })
  },
}
