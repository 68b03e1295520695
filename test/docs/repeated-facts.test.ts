import { expect, test } from 'vitest'
import { nodeEnvironment, nodeFlags } from '../../server/node-flags.mjs'
import { parseAnnotations } from '../../server/write-back/plan/parse-annotations.ts'
import { placeSuffixes } from '../../server/write-back/plan/write-back-target.ts'
import { textOf } from './documents.ts'

test('docs/annotations.md lists the annotations that the service knows', () => {
  const listed = [...textOf('docs/annotations.md').matchAll(/^\| `([^`]+)` \|.*\| `"[^|]*"` \|$/gm)].map(
    ([, name = '']) => name.replace('<alias>', 'shop'),
  )
  const annotations = new Map(listed.map((name) => [`watcher/${name}`, 'true']))
  const { notes } = parseAnnotations(annotations, ['watcher/'])
  expect(notes.filter((note) => note.startsWith('unknown annotation'))).toEqual([])
  const [, known = ''] =
    /const knownNames = \[([^\]]*)\]/.exec(textOf('server/write-back/plan/parse-annotations.ts')) ?? []
  const ofAlias = placeSuffixes.map((suffix) => `shop.${suffix}`)
  expect(listed.sort()).toEqual(
    [...known.matchAll(/'(.+)'/g)]
      .map(([, name]) => name)
      .concat(ofAlias)
      .sort(),
  )
})

test('docs/install.md starts the service with the flags of node-flags.mjs', () => {
  const variables = Object.entries(nodeEnvironment).map(([name, value]) => `${name}=${value}`)
  expect(textOf('docs/install.md')).toContain([...variables, 'node', ...nodeFlags, 'server/main.ts\n'].join(' '))
})
