import { describe, expect, test } from 'vitest'
import { type ApplicationFields, anApplication, repository } from '../../../../test/support/application-builder.ts'
import { aSnapshot } from '../../../../test/support/rollout-builder.ts'
import type { ManagedResources } from '../../observed/observed-resources.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import { findImages, judgeImages, missingImageReads } from './images-condition.ts'

type Seen = ApplicationFields & { readonly managed?: ManagedResources | 'unreadable'; readonly tag: string }

function aShop({ tag, managed, ...fields }: Seen): JudgeInput {
  const application = anApplication(fields)
  const reading = managed && {
    askedAtMs: 0,
    version: application.version,
    value: managed === 'unreadable' ? undefined : managed,
  }
  return aSnapshot(application, {
    task: { images: [{ image: 'registry.example/shop', tag }] },
    observation: { managed: reading },
  })
}

/** The images of a snapshot whose other conditions are all met. */
const stateOf = (snapshot: JudgeInput) => judgeImages(findImages(snapshot, true)).state
const readsFor = (snapshot: JudgeInput) => missingImageReads(snapshot, findImages(snapshot, true))

const live = (...images: string[]): ManagedResources => ({
  liveImages: images,
  declaredImages: images,
  hasForeignKinds: false,
})

describe('a workload without Pods', () => {
  test('is read again when its manifests could not be read', () => {
    const snapshot = aShop({ tag: 'v2', images: [], managed: 'unreadable' })
    expect(stateOf(snapshot)).not.toBe('met')
    expect(readsFor(snapshot)).toEqual([{ kind: 'managed_resources' }])
  })

  test('counts by its manifests once they could', () => {
    const snapshot = aShop({ tag: 'v2', images: [], managed: live('registry.example/shop:v2') })
    expect(stateOf(snapshot)).toBe('met')
  })
})

describe('several tags of the requested image, after an operation that mended only a part of the application', () => {
  const mended = {
    images: ['registry.example/shop:v1', 'registry.example/shop:v2'],
    status: {
      resources: [
        { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'shop', status: 'Synced' },
        { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'other', status: 'Synced' },
      ],
    },
    revision: 'a'.repeat(40),
    operationState: {
      phase: 'Succeeded',
      syncResult: {
        revision: 'a'.repeat(40),
        resources: [{ kind: 'Deployment', name: 'shop', images: ['registry.example/shop:v2'] }],
      },
    },
  }

  test('the one that was not applied is looked for in the manifests', () => {
    expect(readsFor(aShop({ ...mended, tag: 'v1' }))).toEqual([{ kind: 'managed_resources' }])
  })

  test.for([
    { manifests: ['registry.example/shop:v2'], isMet: false },
    { manifests: ['registry.example/shop:v2', 'registry.example/shop:v1'], isMet: true },
  ])('it counts where a manifest names it: $manifests', ({ manifests, isMet }) => {
    const snapshot = aShop({ ...mended, tag: 'v1', managed: live(...manifests) })
    expect(stateOf(snapshot) === 'met').toBe(isMet)
  })

  test('the one that was applied counts', () => {
    expect(stateOf(aShop({ ...mended, tag: 'v2' }))).toBe('met')
  })
})

describe('of several running tags', () => {
  const applied = {
    revision: 'a'.repeat(40),
    images: ['registry.example/shop:v1', 'registry.example/shop:v2'],
    operationState: {
      phase: 'Succeeded',
      syncResult: {
        revision: 'a'.repeat(40),
        resources: [{ kind: 'Deployment', name: 'shop', images: ['registry.example/shop:v1'] }],
      },
    },
  }

  test('one that the last operation did not apply is a remnant', () => {
    expect(stateOf(aShop({ ...applied, tag: 'v2' }))).not.toBe('met')
    expect(readsFor(aShop({ ...applied, tag: 'v2' }))).toEqual([])
  })

  test('one that was applied before the compared revision may be a remnant too: somebody edits by hand', () => {
    const later = { ...applied, revision: 'b'.repeat(40), tag: 'v1' }
    expect(readsFor(aShop(later))).toEqual([{ kind: 'managed_resources' }])
    expect(stateOf(aShop({ ...later, managed: live('registry.example/shop:v2') }))).not.toBe('met')
  })

  test('one that was applied with our commit counts, whatever was compared since', () => {
    const commit = { commit: 'a'.repeat(40), repository, branch: 'main', isNew: true }
    const snapshot = aShop({ ...applied, revision: 'b'.repeat(40), tag: 'v1' })
    expect(stateOf({ ...snapshot, commit })).toBe('met')
  })

  test('unless a later comparison had nothing to apply: then the manifests decide', () => {
    const later = { ...applied, revision: 'b'.repeat(40), tag: 'v2' }
    expect(readsFor(aShop(later))).toEqual([{ kind: 'managed_resources' }])
    expect(stateOf(aShop({ ...later, managed: live('registry.example/shop:v2') }))).toBe('met')
    expect(stateOf(aShop({ ...later, managed: live('registry.example/shop:v1') }))).not.toBe('met')
  })
})

describe('a tag that only a sync hook of the same image ran', () => {
  const [v1, v2] = ['registry.example/shop:v1', 'registry.example/shop:v2']
  const hook = { kind: 'Job', name: 'migrate', hookType: 'PreSync', images: [v2] }
  const deployment = { kind: 'Deployment', name: 'shop', images: [v1] }
  const ran = (resources: readonly object[], more: ApplicationFields = {}) =>
    aShop({
      tag: 'v2',
      revision: 'a'.repeat(40),
      images: [v1, v2],
      operationState: { phase: 'Succeeded', syncResult: { revision: 'a'.repeat(40), resources } },
      ...more,
    })
  const withLive = (snapshot: JudgeInput, ...images: string[]): JudgeInput => ({
    ...snapshot,
    observation: {
      ...snapshot.observation,
      managed: { askedAtMs: 0, version: snapshot.application.version, value: live(...images) },
    },
  })

  test.for([{ images: [v1, v2] }, { images: [v2] }, { images: [] }])(
    'does not decide where a Deployment has another one, listed: $images',
    ({ images }) => {
      const snapshot = ran([hook, deployment], { images })
      expect(stateOf(snapshot)).toBe('not_met')
      expect(readsFor(snapshot)).toEqual([])
    },
  )

  test('is named', () => {
    const { found } = judgeImages(findImages(ran([hook, deployment]), true))
    expect(found).toBe(`${v2} only in hook Job migrate`)
  })

  test('decides where no plain resource has the image', () => {
    const other = { ...deployment, images: ['registry.example/other:v1'] }
    for (const images of [[v1, v2], [v2], []]) expect(stateOf(ran([hook, other], { images }))).toBe('met')
  })

  const liveHook = { status: { resources: [{ kind: 'Job', name: 'migrate', hook: true, requiresPruning: true }] } }
  test.for<{ name: string; resources: readonly object[]; more?: ApplicationFields }>([
    { name: 'the operation left out what was in sync', resources: [hook] },
    {
      name: 'Argo CD reports no images of an operation',
      resources: [hook, deployment].map((one) => ({ ...one, images: undefined })),
    },
    {
      name: 'a later operation synced a drift only',
      resources: [{ kind: 'ConfigMap', name: 'shop' }],
      more: liveHook,
    },
  ])('is judged by the live manifests where $name', ({ resources, more }) => {
    const snapshot = ran(resources, more)
    expect(readsFor(snapshot)).toEqual([{ kind: 'managed_resources' }])
    expect(stateOf(withLive(snapshot, v1))).toBe('not_met')
    expect(stateOf(withLive(snapshot, v2))).toBe('met')
    expect(stateOf(withLive(snapshot, 'registry.example/other:v1'))).toBe('met')
  })

  test('needs no read where the Deployment has it too', () => {
    const snapshot = ran([hook, { ...deployment, images: [v2] }])
    expect(stateOf(snapshot)).toBe('met')
  })
})

describe('another tag of the requested image that goes on in a second Deployment', () => {
  const [v1, v2] = ['registry.example/shop:v1', 'registry.example/shop:v2']
  const revision = 'a'.repeat(40)
  const synced = (resources: readonly object[], images = [v1, v2]) =>
    aShop({
      tag: 'v2',
      revision,
      images,
      operationState: { phase: 'Succeeded', syncResult: { revision, resources } },
    })
  const shop = { kind: 'Deployment', name: 'shop', images: [v2] }
  const worker = { kind: 'Deployment', name: 'shop-worker', images: [v1] }
  const noteOf = (snapshot: JudgeInput) => judgeImages(findImages(snapshot, true)).note

  test('is named with its resource, without a read', () => {
    const snapshot = synced([shop, worker])
    expect(stateOf(snapshot)).toBe('met')
    expect(readsFor(snapshot)).toEqual([])
    expect(noteOf(snapshot)).toBe(`${v1} also runs, in Deployment shop-worker`)
  })

  test('is named where it also ran from the start', () => {
    const operation = { startedAtMs: undefined, isOver: true }
    const before = { uid: 'uid-1', version: 1, revisions: [], reconciledAtMs: undefined, images: [v1, v2], operation }
    const snapshot = { ...synced([shop, worker]), baseline: { ...before, isBeforeCommit: false } }
    const why = `${v2} runs beside ${v1}: the revision changed`
    expect(noteOf(snapshot)).toBe(`${why}; ${v1} also runs, in Deployment shop-worker`)
  })

  test.for([
    { name: 'only Pods of an earlier rollout have it', snapshot: synced([shop]) },
    { name: 'it has no Pods', snapshot: synced([shop, worker], [v2]) },
    { name: 'only a hook has it', snapshot: synced([shop, { ...worker, hookType: 'PreSync' }]) },
  ])('is not named where $name', ({ snapshot }) => {
    expect(stateOf(snapshot)).toBe('met')
    expect(noteOf(snapshot)).toBeUndefined()
  })
})

describe('the only tag that is listed, where an operation applied another one', () => {
  const [v1, v2] = ['registry.example/shop:v1', 'registry.example/shop:v2']
  const fields = {
    tag: 'v1',
    revision: 'a'.repeat(40),
    images: [v1],
    operationState: {
      phase: 'Succeeded',
      startedAt: '2026-11-21T15:00:05Z',
      syncResult: { revision: 'a'.repeat(40), resources: [{ kind: 'Widget', name: 'shop', images: [v2] }] },
    },
  }
  const startedAtMs = Date.parse(fields.operationState.startedAt)
  const since = (operationMs: number, snapshot: JudgeInput): JudgeInput => ({
    ...snapshot,
    baseline: {
      uid: snapshot.application.uid,
      version: 1,
      revisions: [],
      reconciledAtMs: undefined,
      images: [v1],
      operation: { startedAtMs: operationMs, isOver: true },
      isBeforeCommit: false,
    },
  })
  const later = (snapshot: JudgeInput) => since(startedAtMs - 60_000, snapshot)

  test('since the task came, may be a remnant, for 30 s (history 5028883)', () => {
    const at = (nowMs: number) => ({ ...later(aShop(fields)), nowMs })
    expect(stateOf(at(29_999))).toBe('not_met')
    expect(readsFor(at(29_999))).toEqual([])
    expect(stateOf(at(30_000))).toBe('met')
  })

  test('before the task came, runs', () => {
    expect(stateOf(since(startedAtMs, aShop(fields)))).toBe('met')
  })
})
