import { describe, expect, test } from 'vitest'
import type { ReadOutcome } from '../observed/delivery-controller.ts'
import type { ObservedPod } from '../observed/observed-resources.ts'
import { createReadPodLog, type LogRequest } from './read-pod-log.ts'

const shop = { name: 'shop', namespace: undefined, project: 'default' }
const aPod = (more: Partial<ObservedPod> = {}): ObservedPod => ({
  namespace: 'shop',
  name: 'shop-1',
  uid: 'uid',
  images: [],
  reason: 'CrashLoopBackOff',
  health: 'Degraded',
  message: undefined,
  createdAtMs: 0,
  ...more,
})
const said = (...value: string[]): ReadOutcome<readonly string[]> => ({ kind: 'read', value })
const forbidden: ReadOutcome<readonly string[]> = { kind: 'forbidden' }
const severalContainers: ReadOutcome<readonly string[]> = {
  kind: 'unreachable',
  why: 'Argo CD answered 400: a container name must be specified for pod shop-1, choose one of: [app proxy] or one of the init containers: [wait]',
}

/** What is shown of a log, and which reads it took. */
async function read(pod: ObservedPod, answer: (request: LogRequest) => ReadOutcome<readonly string[]>) {
  const asked: string[] = []
  const readPodLog = createReadPodLog({
    lines: 2,
    redact: (text) => text.replaceAll('hunter2', '<redacted>'),
    async readLog(_, request) {
      asked.push([request.container ?? 'any', request.isPrevious ? 'before' : 'now', request.lines].join(' '))
      return answer(request)
    },
  })
  return { log: await readPodLog(shop, pod), asked }
}

describe('the last log lines of a Pod that does not start (decision 0007)', () => {
  test('of one that crashes are those of the run that ended', async () => {
    const { log, asked } = await read(aPod(), () => said('starting', 'fatal'))
    expect(log).toEqual({ pod: 'shop-1', lines: ['starting', 'fatal'] })
    expect(asked).toEqual(['any before 2'])
  })

  test.for([
    { name: 'wrote nothing', before: said() },
    { name: 'is not there any more', before: { kind: 'unreachable', why: 'not found' } as const },
  ])('where that run $name are those of the present one', async ({ before }) => {
    const { log, asked } = await read(aPod(), ({ isPrevious }) => (isPrevious ? before : said('starting')))
    expect(log?.lines).toEqual(['starting'])
    expect(asked).toEqual(['any before 2', 'any now 2'])
  })

  test('of one that runs without being ready are those of its run', async () => {
    expect((await read(aPod({ reason: 'Running' }), () => said('waiting'))).asked).toEqual(['any now 2'])
  })

  test('of one whose failed container is known are those of that one', async () => {
    const message = 'back-off 10s restarting failed container=app pod=shop-1_shop(uid)'
    expect((await read(aPod({ message }), () => said('fatal'))).asked).toEqual(['app before 2'])
  })

  test('of one with several containers are those of each, named', async () => {
    const { log } = await read(aPod(), ({ container }) =>
      container === undefined ? severalContainers : said(`I am ${container}`),
    )
    expect(log?.lines).toEqual(['app: I am app', 'proxy: I am proxy'])
  })

  test.for(['ImagePullBackOff', 'InvalidImageName', 'CreateContainerConfigError'])(
    'of one that has not run (%s) are not asked for',
    async (reason) => expect(await read(aPod({ reason }), () => said('x'))).toEqual({ log: undefined, asked: [] }),
  )

  test.for([forbidden, said(), { kind: 'unreachable', why: 'no answer in time' } as const])(
    'that cannot be read are simply not there: %j',
    async (answer) => expect((await read(aPod(), () => answer)).log).toBeUndefined(),
  )

  test('are redacted before they are cut at 300 characters', async () => {
    const { log } = await read(aPod(), () => said(`${'x'.repeat(297)}hunter2`))
    expect(log?.lines).toEqual([`${'x'.repeat(297)}<re`])
  })
})
