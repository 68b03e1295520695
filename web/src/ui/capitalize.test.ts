import { expect, test } from 'vitest'
import { capitalize } from './capitalize.ts'

test.for([
  ['the old version still serves', 'The old version still serves'],
  ['registry.example/part-0 is not among its images', 'registry.example/part-0 is not among its images'],
  ['targetRevision must be a branch', 'targetRevision must be a branch'],
  ['expected: Synced', 'Expected: Synced'],
  ['0/3 nodes are available', '0/3 nodes are available'],
  ['back-off 10s restarting failed container', 'Back-off 10s restarting failed container'],
  ['deleted.', 'Deleted.'],
  ['', ''],
] as const)('%s', ([text, capitalized]) => expect(capitalize(text)).toBe(capitalized))
