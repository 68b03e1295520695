import { once } from 'node:events'
import { expect, test } from 'vitest'
import { killGit, lastWords, startGit } from './run-git.ts'

test('words that came while we were busy are read, although the wait for them is over', async () => {
  const program = 'echo ready >&2; read -r go; echo said >&2; sleep 60'
  const child = startGit('sh', ['-c', program], { PATH: process.env.PATH ?? '' })
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => {
    words += chunk.toString()
  })
  const waitedFor = new Promise<void>((resolve) => {
    child.stderr.once('data', () => {
      resolve(lastWords(child))
      child.stdin.write('go\n')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    })
  })
  await waitedFor
  expect(words).toBe('ready\nsaid\n')
  killGit(child)
  await once(child, 'exit')
})
