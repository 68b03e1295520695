import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { watcherPolicies } from './simulator.ts'

test('the account of the tests has exactly the policy that docs/install.md asks for (T50)', () => {
  const page = readFileSync(new URL('../docs/install.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/p, role:\w+, (\w+), (\w+), (\S+), allow$/gm)]
  expect(documented.map(([, resource, action, object]) => ({ resource, action, object }))).toEqual(
    watcherPolicies.map((policy) => ({ resource: 'applications', ...policy })),
  )
})
