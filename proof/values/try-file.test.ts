import { expect, test } from 'vitest'
import type { FileEdit } from '../../server/write-back/edit/file-edit.ts'
import { tryFile } from './try-file.ts'

const text = '# of a chart\nimage:\n  tag: v1\n  list: [{a: "x"}]\nreplicas: 2\nnotes: |\n  none\n'

test('every text and number is tried by its path', () => {
  expect(tryFile(text)).toEqual({
    scalars: 4,
    edited: 3,
    refused: new Map([['has a block (|) at …: write its value on one line', 1]]),
    unreadable: undefined,
    faults: [],
  })
})

test.for<[what: string, edited: (text: string) => string, says: RegExp]>([
  ['a tag that a reader takes for a number', (before) => before.replace('tag: v1', 'tag: 1.10'), /YAML 1\.[12]/],
  ['a comment that is lost', (before) => before.replace('# of a chart\n', ''), /bytes before/],
  ['another value that changes', (before) => before.replace('replicas: 2', 'replicas: 3'), /bytes behind/],
])('%s is a fault', ([, edited, says]) => {
  const edit = (before: string): FileEdit => ({ kind: 'changed', text: edited(before), replaced: new Map() })
  expect(tryFile(text, edit).faults.join()).toMatch(says)
})
