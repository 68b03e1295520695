import { describe, expect, test } from 'vitest'
import { causeCodes, causeOf, pastHeadlineOf, type Role } from './causes.ts'
import { exampleDiagnosis } from './text/example-diagnoses.ts'

const actors: Readonly<Record<Role, string>> = {
  developer: 'developer',
  platform_team: 'platform team',
  operator: 'operator',
}

const rowOf = (code: (typeof causeCodes)[number]) => {
  const { status, headline, rollsBack } = causeOf(code)
  const { headline: example, next_steps: steps } = exampleDiagnosis(code)
  const toDo = steps.map(({ actor, text }, index) => `${index + 1}. ${text} *(${actors[actor]})*`)
  const line = example === headline || example === undefined ? '' : `\`${example}\``
  return `| \`${code}\` | ${status} | ${rollsBack === true ? 'yes' : ''} | ${headline} | ${line} | ${toDo.join('<br>') || 'none needed'} |`
}

test('docs/causes.md is made from the table (npx vitest run contract/causes.test.ts -u)', async () => {
  const page = [
    '# Causes',
    '',
    'A task that did not end `deployed` carries a stable, machine-readable `cause` beside its `status_reason`.',
    'Codes may be added, but none changes its meaning. `contract/causes.ts` generates this page.',
    '',
    'The first line of `status_reason` and the `headline` of the diagnosis name the container or resource and the reason,',
    'as in the examples below. Next steps depend on the culprit and its message; the table shows those of the example.',
    '',
    'Three roles do the steps: the *developer* deploys the application, the *platform team* runs Argo CD and the cluster,',
    'the *operator* runs this service.',
    '',
    'With `on_failure: rollback` the service takes back the commit of a task that ended with a cause that says "yes"',
    '([annotations.md](annotations.md#rollback)).',
    '',
    '| cause | status | rolled back | what happened | example | next steps |',
    '| --- | --- | --- | --- | --- | --- |',
    ...causeCodes.map(rowOf),
    '',
  ]
  await expect(page.join('\n')).toMatchFileSnapshot('../docs/causes.md')
})

describe('a headline', () => {
  test.for(causeCodes)('of %s fits in one line of a page', (code) =>
    expect(causeOf(code).headline).toMatch(/^[A-Z].{8,70}[^.!?]$/),
  )
  test.for(causeCodes)('of %s is in the past tense once another version was deployed', (code) => {
    expect(pastHeadlineOf(code)).toMatch(/^[A-Z].{8,62}[^.!?]$/)
    expect(pastHeadlineOf(code)).not.toMatch(/\b(is|are|has|cannot|does|shows|runs|crashes|lacks)(\s|$)/)
  })
})
