import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Take addresses apart, which are no text of the service. */
const ofAddresses = ['web/src/deployments/address-issues.ts', 'web/src/deployments/task-links.ts']

test('no page takes a text of the service apart: what it shows is a value in the record', () => {
  const files = globSync('web/src/deployments/**/*.{ts,tsx}').filter(
    (file) => !file.endsWith('.test.ts') && !ofAddresses.includes(file),
  )
  const parsing = /\.(?:exec|match|matchAll|replace|search|split|test)\(|new RegExp|[=(,] *\/(?![/*>])/
  const found = files.filter((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .some((line) => !line.trimStart().startsWith('*') && !line.includes('import') && parsing.test(line)),
  )
  expect(found).toEqual([])
})
