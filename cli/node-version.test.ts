import { expect, test } from 'vitest'
import { refuseNode } from './node-version.ts'

test.for([
  ['18.20.8', 'needs Node 20.3 or newer; this is 18.20.8'],
  ['20.2.0', 'needs Node 20.3 or newer; this is 20.2.0'],
  ['20.3.0', undefined],
  ['20.20.2', undefined],
  ['24.21.0', undefined],
] as const)('Node %s', ([version, refusal]) => expect(refuseNode(version)).toBe(refusal))
