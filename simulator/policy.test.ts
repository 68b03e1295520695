import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { watcherPolicies } from './simulator.ts'

test('the account of the tests has exactly the policy that README.md asks for (T50)', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const documented = [...readme.matchAll(/p, role:\w+, (\w+), (\w+), (\S+), allow/g)]
  expect(documented.map(([, resource, action, object]) => ({ resource, action, object }))).toEqual(
    watcherPolicies.map((policy) => ({ resource: 'applications', ...policy })),
  )
})
