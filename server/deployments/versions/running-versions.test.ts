import { describe, expect, test } from 'vitest'
import { imagesOf, isImageRunning } from '../../rollout/judge/conditions/image-reference.ts'
import { requestedTagsOf, runningVersion, type TaskImage } from './running-versions.ts'

const settings = { registryProxy: 'mirror.example' }
const match = {
  isOfImage: (image: string, reference: string) => imagesOf({ image }, [reference], settings).length > 0,
  isRunning: (image: { image: string; tag: string }, reference: string) => isImageRunning(image, [reference], settings),
}
const digest = `sha256:${'a'.repeat(64)}`

/** The task `t<created>` deployed the tag of an image, or has another status. */
const deployed = (
  created: number,
  tag: string,
  image = 'r/shop',
  status: TaskImage['status'] = 'deployed',
): TaskImage => ({
  image,
  tag,
  status,
  id: `t${created}`,
  created,
  ended: created + 5,
})

type Row = {
  says: string
  runs: string
  deployed?: readonly TaskImage[]
  is: object
}

describe('what runs', () => {
  test.for<Row>([
    {
      says: 'what was deployed last runs since the end of its task',
      runs: 'r/shop:v2',
      deployed: [deployed(10, 'v1'), deployed(20, 'v2')],
      is: { image: 'r/shop', tag: 'v2', since: 25, task_id: 't20', task_status: 'deployed', drift: false },
    },
    {
      says: 'a version that was deployed again runs since then',
      runs: 'r/shop:v1',
      deployed: [deployed(30, 'v1'), deployed(20, 'v2')],
      is: { image: 'r/shop', tag: 'v1', since: 35, task_id: 't30', task_status: 'deployed', drift: false },
    },
    {
      says: 'an earlier version drifts, and has not run since its task',
      runs: 'r/shop:v1',
      deployed: [deployed(10, 'v1'), deployed(20, 'v2')],
      is: {
        image: 'r/shop',
        tag: 'v1',
        seen_since: 99,
        task_id: 't10',
        task_status: 'deployed',
        drift: true,
        deployed_tag: 'v2',
      },
    },
    {
      says: 'a version that no task deployed drifts where a task deployed the image',
      runs: 'r/shop:v9',
      deployed: [deployed(20, 'v2')],
      is: { image: 'r/shop', tag: 'v9', seen_since: 99, drift: true, deployed_tag: 'v2' },
    },
    {
      says: 'an image that no task deployed is not by this service',
      runs: 'docker.io/istio/proxyv2:1.29',
      deployed: [deployed(20, 'v2')],
      is: { image: 'docker.io/istio/proxyv2', tag: '1.29', seen_since: 99, drift: false },
    },
    {
      says: 'what is being rolled out is no drift',
      runs: 'r/shop:v3',
      deployed: [deployed(20, 'v2'), deployed(30, 'v3', 'r/shop', 'in progress')],
      is: { image: 'r/shop', tag: 'v3', seen_since: 99, task_id: 't30', task_status: 'in progress', drift: false },
    },
    {
      says: 'a first rollout belongs to its task',
      runs: 'r/shop:v3',
      deployed: [deployed(30, 'v3', 'r/shop', 'in progress')],
      is: { image: 'r/shop', tag: 'v3', seen_since: 99, task_id: 't30', task_status: 'in progress', drift: false },
    },
    {
      says: 'what a failed task left running drifts, and is by its task',
      runs: 'r/shop:v3',
      deployed: [deployed(20, 'v2'), deployed(30, 'v3', 'r/shop', 'failed')],
      is: {
        image: 'r/shop',
        tag: 'v3',
        seen_since: 99,
        task_id: 't30',
        task_status: 'failed',
        drift: true,
        deployed_tag: 'v2',
      },
    },
    {
      says: 'what runs stays that of its deployment while it is deployed again',
      runs: 'r/shop:v2',
      deployed: [deployed(20, 'v2'), deployed(30, 'v2', 'r/shop', 'in progress')],
      is: { image: 'r/shop', tag: 'v2', since: 25, task_id: 't20', task_status: 'deployed', drift: false },
    },
    {
      says: 'of several images of a task each has its own last one',
      runs: 'r/worker:v1',
      deployed: [deployed(10, 'v1', 'r/worker'), deployed(20, 'v2')],
      is: { image: 'r/worker', tag: 'v1', since: 15, task_id: 't10', task_status: 'deployed', drift: false },
    },
    {
      says: 'Docker Hub has several names',
      runs: 'docker.io/library/redis:8',
      deployed: [deployed(20, '8', 'redis')],
      is: {
        image: 'docker.io/library/redis',
        tag: '8',
        since: 25,
        task_id: 't20',
        task_status: 'deployed',
        drift: false,
      },
    },
    {
      says: 'a mirror puts its name before the image',
      runs: 'mirror.example/r.example/shop:v2',
      deployed: [deployed(20, 'v2', 'r.example/shop')],
      is: {
        image: 'mirror.example/r.example/shop',
        tag: 'v2',
        since: 25,
        task_id: 't20',
        task_status: 'deployed',
        drift: false,
      },
    },
    {
      says: 'a digest beside the tag does not matter to a task that named none',
      runs: `r/shop:v2@${digest}`,
      deployed: [deployed(20, 'v2')],
      is: { image: 'r/shop', tag: 'v2', digest, since: 25, task_id: 't20', task_status: 'deployed', drift: false },
    },
    {
      says: 'a digest alone is found by a task that named it',
      runs: `r/shop@${digest}`,
      deployed: [deployed(20, digest)],
      is: { image: 'r/shop', digest, since: 25, task_id: 't20', task_status: 'deployed', drift: false },
    },
    {
      says: 'without a tag it is latest',
      runs: 'r.example:5000/shop',
      is: { image: 'r.example:5000/shop', tag: 'latest', seen_since: 99, drift: false },
    },
  ])('$says', ({ runs, deployed: rows = [], is }) => {
    expect(runningVersion(runs, 99, rows, match)).toEqual(is)
  })
})

test.for([
  ['r/shop:v1', ['v1']],
  ['r:5000/shop', ['latest']],
  [`r/shop@${digest}`, [digest]],
  [`r/shop:v1@${digest}`, ['v1', digest, `v1@${digest}`]],
] as const)('tasks may have requested %s by %j', ([reference, tags]) =>
  expect(requestedTagsOf(reference)).toEqual(tags),
)
