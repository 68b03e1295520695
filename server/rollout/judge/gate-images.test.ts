import { describe, expect, test } from 'vitest'
import { type ApplicationFields, anApplication, repository } from '../../../test/support/application-builder.ts'
import { aGateContext } from '../../../test/support/rollout-builder.ts'
import { gateImages, wantedImageReads } from './gate-images.ts'
import type { GateContext } from './gates.ts'
import type { ManagedResources } from './observed-resources.ts'

type Seen = ApplicationFields & { readonly managed?: ManagedResources | 'unreadable'; readonly tag: string }

function aContext({ tag, managed, ...fields }: Seen): GateContext {
  const application = anApplication(fields)
  const reading = managed && {
    askedAtMs: 0,
    version: application.version,
    value: managed === 'unreadable' ? undefined : managed,
  }
  return aGateContext(application, {
    wanted: [{ image: 'registry.example/shop', tag }],
    observation: { relations: new Map(), tree: undefined, managed: reading },
  })
}

const live = (...images: string[]): ManagedResources => ({
  liveImages: images,
  declaredImages: images,
  hasForeignKinds: false,
})

describe('a workload without Pods', () => {
  test('is read again when its manifests could not be read', () => {
    const context = aContext({ tag: 'v2', images: [], managed: 'unreadable' })
    expect(gateImages(context, true).isOpen).toBe(false)
    expect(wantedImageReads(context)).toEqual([{ kind: 'managed_resources' }])
  })

  test('counts by its manifests once they could', () => {
    const context = aContext({ tag: 'v2', images: [], managed: live('registry.example/shop:v2') })
    expect(gateImages(context, true).isOpen).toBe(true)
  })
})

describe('several tags of the wanted image, after an operation that mended only a part of the application', () => {
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
    expect(wantedImageReads(aContext({ ...mended, tag: 'v1' }))).toEqual([{ kind: 'managed_resources' }])
  })

  test.for([
    { manifests: ['registry.example/shop:v2'], isOpen: false },
    { manifests: ['registry.example/shop:v2', 'registry.example/shop:v1'], isOpen: true },
  ])('it counts where a manifest names it: $manifests', ({ manifests, isOpen }) => {
    const context = aContext({ ...mended, tag: 'v1', managed: live(...manifests) })
    expect(gateImages(context, true).isOpen).toBe(isOpen)
  })

  test('the one that was applied counts', () => {
    expect(gateImages(aContext({ ...mended, tag: 'v2' }), true).isOpen).toBe(true)
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
    expect(gateImages(aContext({ ...applied, tag: 'v2' }), true).isOpen).toBe(false)
    expect(wantedImageReads(aContext({ ...applied, tag: 'v2' }))).toEqual([])
  })

  test('one that was applied before the compared revision may be a remnant too: somebody edits by hand', () => {
    const later = { ...applied, revision: 'b'.repeat(40), tag: 'v1' }
    expect(wantedImageReads(aContext(later))).toEqual([{ kind: 'managed_resources' }])
    expect(gateImages(aContext({ ...later, managed: live('registry.example/shop:v2') }), true).isOpen).toBe(false)
  })

  test('one that was applied with our commit counts, whatever was compared since', () => {
    const commit = { commit: 'a'.repeat(40), repository, branch: 'main', isNew: true }
    const context = aContext({ ...applied, revision: 'b'.repeat(40), tag: 'v1' })
    expect(gateImages({ ...context, commit }, true).isOpen).toBe(true)
  })

  test('unless a later comparison had nothing to apply: then the manifests decide', () => {
    const later = { ...applied, revision: 'b'.repeat(40), tag: 'v2' }
    expect(wantedImageReads(aContext(later))).toEqual([{ kind: 'managed_resources' }])
    expect(gateImages(aContext({ ...later, managed: live('registry.example/shop:v2') }), true).isOpen).toBe(true)
    expect(gateImages(aContext({ ...later, managed: live('registry.example/shop:v1') }), true).isOpen).toBe(false)
  })
})
