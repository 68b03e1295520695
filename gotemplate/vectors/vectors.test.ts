import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judgeVector } from './judge-vector.ts'
import { readVectorFile } from './vector-file.ts'

describe("templates render as Go's own text/template renders them (spec 2.7)", () => {
  test.for(readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json')))('%s', async (name) => {
    const file = await readVectorFile(new URL(name, import.meta.url))
    const faults = file.vectors.flatMap((vector) => {
      const fault = judgeVector(file, vector)
      return fault ? [{ template: vector.template, ...fault }] : []
    })
    expect(file.vectors.length).toBeGreaterThan(900)
    expect(faults).toEqual([])
  })
})
