import { describe, expect, test } from 'vitest'
import { selectFields, selectListFields } from './select-fields.ts'

const event = {
  result: {
    type: 'MODIFIED',
    application: {
      metadata: { name: 'shop', annotations: { 'a.b/c': '1', other: '2' } },
      spec: { source: { repoURL: 'r' }, project: 'default' },
      status: { resources: [{ kind: 'Pod', name: 'x' }], sync: { status: 'Synced', revision: undefined } },
    },
  },
}

describe('fields of a stream', () => {
  test('named paths stay, with sorted members', () => {
    expect(JSON.stringify(selectFields(event, 'result.type,result.application.metadata.name'))).toBe(
      '{"result":{"application":{"metadata":{"name":"shop"}},"type":"MODIFIED"}}',
    )
  })

  test('a parent matches by string prefix: spec.sources leaves an empty spec.source', () => {
    expect(selectFields(event, 'result.application.spec.sources')).toEqual({
      result: { application: { spec: { source: {} } } },
    })
  })

  test('arrays are transparent, and dotted annotation names work', () => {
    expect(
      selectFields(event, 'result.application.status.resources.kind,result.application.metadata.annotations.a.b/c'),
    ).toEqual({
      result: {
        application: { metadata: { annotations: { 'a.b/c': '1' } }, status: { resources: [{ kind: 'Pod' }] } },
      },
    })
  })

  test('a leading minus leaves out instead', () => {
    expect(selectFields(event, '-result.application')).toEqual({ result: { type: 'MODIFIED' } })
  })

  test('an error is filtered away like anything else', () => {
    expect(selectFields({ error: { message: 'x' } }, 'result.type')).toEqual({})
    expect(selectFields({ error: { message: 'x' } }, 'result.type,error')).toEqual({ error: { message: 'x' } })
  })
})

test('List knows a fixed set of names; resource versions, uids and whole sync statuses are left out', () => {
  const list = {
    metadata: { resourceVersion: '1' },
    items: [
      {
        metadata: { name: 'shop', uid: 'u', resourceVersion: '1' },
        status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } },
      },
    ],
  }
  const fields =
    'items.metadata.name,items.metadata.uid,items.metadata.resourceVersion,items.status.sync,items.status.health'
  expect(selectListFields(list, fields)).toEqual({
    items: [{ metadata: { name: 'shop' }, status: { health: { status: 'Healthy' } } }],
    metadata: { resourceVersion: '1' },
  })
})
