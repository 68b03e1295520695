import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { inputNames } from './inputs.ts'
import { outputsOf } from './outputs.ts'

const here = import.meta.dirname

test('action/dist is what `npm run build` makes of the sources', async () => {
  const outDir = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-action-'))
  try {
    await build({ configFile: path.join(here, 'vite.config.ts'), logLevel: 'error', build: { outDir } })
    expect(await readdir(outDir)).toEqual(await readdir(path.join(here, 'dist')))
    for (const file of await readdir(outDir)) {
      const [built, committed] = await Promise.all(
        [outDir, path.join(here, 'dist')].map((folder) => readFile(path.join(folder, file))),
      )
      expect(built?.equals(committed ?? Buffer.of()), `${file}: run npm run build, and commit it`).toBe(true)
    }
  } finally {
    await rm(outDir, { recursive: true })
  }
})

test('action.yml declares the inputs and the outputs that the program knows', async () => {
  const { inputs, outputs } = parse(await readFile(path.join(here, 'action.yml'), 'utf8'))
  expect(Object.keys(inputs)).toEqual(inputNames)
  expect(Object.keys(outputs)).toEqual(Object.keys(outputsOf([], 0, String)))
})
