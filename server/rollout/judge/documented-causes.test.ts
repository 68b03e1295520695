import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { causes } from '../../../contract/cause.ts'

test('docs/causes.md lists exactly the causes that the contract has, in its order', () => {
  const table = readFileSync(new URL('../../../docs/causes.md', import.meta.url), 'utf8')
  const documented = [...table.matchAll(/^\| `(\w+)` \| (failed|aborted|cancelled|app not found) \| .+ \| .+ \|$/gm)]
  expect(documented.map(([, cause]) => cause)).toEqual(causes)
})
