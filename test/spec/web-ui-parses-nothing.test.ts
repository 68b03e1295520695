import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Take apart what is no text of the service: addresses, dates, zones, what is typed, names of the page; and times in a note. */
const ofOthers = [
  'web/src/app/keys-dialog.tsx',
  'web/src/deployments/address-issues.ts',
  'web/src/deployments/describe-gates.ts',
  'web/src/deployments/first-command.ts',
  'web/src/deployments/task-filters.ts',
  'web/src/deployments/task-links.ts',
  'web/src/find/find-dialog.tsx',
  'web/src/find/find-tasks.ts',
  'web/src/history/figures.ts',
  'web/src/locks/lock-words.ts',
  'web/src/settings/effective-settings.tsx',
  'web/src/settings/token-draft.ts',
  'web/src/ui/device-settings.ts',
  'web/src/ui/zoned-time.ts',
  'web/src/versions/render-csv.ts',
]

test('no page takes a text of the service apart: what it shows is a value in the record', () => {
  const files = globSync('web/src/**/*.{ts,tsx}').filter((file) => !file.endsWith('.test.ts'))
  const parsing = /\.(?:exec|match|matchAll|replace|search|split|test)\(|new RegExp|[=(,] *\/(?![/*>])/
  const found = files.filter((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .some((line) => !line.trimStart().startsWith('*') && !line.includes('import') && parsing.test(line)),
  )
  expect(found.toSorted()).toEqual(ofOthers)
})
