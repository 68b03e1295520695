import { expect, test } from 'vitest'
import { parseLivePod } from './parse-live-pod.ts'

const secret = 'hunter2'
const manifest = {
  metadata: { name: 'shop-1', annotations: { 'example.com/token': secret } },
  spec: {
    initContainers: [{ name: 'migrate', image: 'registry.example/migrate:2', command: ['migrate', secret] }],
    containers: [
      {
        name: 'web',
        image: 'registry.example/shop:2',
        args: [`--password=${secret}`],
        env: [{ name: 'PASSWORD', value: secret }],
        resources: { limits: { memory: '128Mi', cpu: '1' } },
      },
    ],
  },
  status: {
    initContainerStatuses: [
      {
        name: 'migrate',
        image: 'sha256:1',
        restartCount: 0,
        state: { terminated: { exitCode: 0, reason: 'Completed' } },
      },
    ],
    containerStatuses: [
      {
        name: 'web',
        image: 'sha256:2',
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
      },
    ],
  },
}

test('a live Pod is what its containers say of their last end and their memory', () => {
  expect(parseLivePod({ manifest: JSON.stringify(manifest) })).toEqual({
    containers: [
      {
        name: 'migrate',
        image: 'registry.example/migrate:2',
        isInit: true,
        restarts: 0,
        lastTermination: { exitCode: 0, reason: 'Completed', message: undefined },
        memoryLimit: undefined,
      },
      {
        name: 'web',
        image: 'registry.example/shop:2',
        isInit: false,
        restarts: 4,
        lastTermination: { exitCode: 137, reason: 'OOMKilled', message: undefined },
        memoryLimit: '128Mi',
      },
    ],
  })
})

test('environment, arguments, commands and annotations are not kept', () => {
  expect(JSON.stringify(parseLivePod({ manifest: JSON.stringify(manifest) }))).not.toContain(secret)
})

test.for([{}, { manifest: '' }, { manifest: '{"spec":' }, { manifest: 'null' }])(
  '%j says nothing of containers',
  (body) => {
    expect(parseLivePod(body)?.containers ?? []).toEqual([])
  },
)
