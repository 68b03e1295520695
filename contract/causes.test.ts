import { describe, expect, test } from 'vitest'
import { type Actor, causeCodes, causeOf } from './causes.ts'

const actors: Readonly<Record<Actor, string>> = {
  developer: 'developer',
  platform_team: 'platform team',
  operator: 'operator',
}

const rowOf = (code: (typeof causeCodes)[number]) => {
  const { status, headline, nextSteps } = causeOf(code)
  const steps = nextSteps.map(({ actor, text }, index) => `${index + 1}. ${text} *(${actors[actor]})*`)
  return `| \`${code}\` | ${status} | ${headline} | ${steps.join('<br>') || 'none needed'} |`
}

test('docs/causes.md is made from the table (npx vitest run -u contract/causes.test.ts)', async () => {
  const page = [
    '# Causes',
    '',
    'A task that did not end `deployed` carries a stable, machine-readable `cause` beside its `status_reason`.',
    'More codes may come; none changes its meaning. This page is made from `contract/causes.ts`.',
    '',
    'Who does a step: the *developer* deploys the application, the *platform team* runs Argo CD and the cluster,',
    'the *operator* runs this service.',
    '',
    '| cause | status | what happened | next steps |',
    '| --- | --- | --- | --- |',
    ...causeCodes.map(rowOf),
    '',
  ]
  await expect(page.join('\n')).toMatchFileSnapshot('../docs/causes.md')
})

describe('a headline', () => {
  test.for(causeCodes)('of %s fits in one line of a page', (code) =>
    expect(causeOf(code).headline).toMatch(/^[A-Z].{8,70}[^.!?]$/),
  )
})

describe('a next step', () => {
  const steps = causeCodes.flatMap((code) => causeOf(code).nextSteps.map(({ text }) => text))
  test.for([...new Set(steps)])('"%s" is made of sentences of at most 25 words', (text) => {
    for (const sentence of text.split(/[.;] ?/)) expect(sentence.split(' ').length).toBeLessThanOrEqual(25)
  })

  test('never says to deploy again as it was: the same tag makes no commit', () => {
    for (const text of steps) expect(text).not.toMatch(/redeploy|deploy (?:it )?again/i)
  })
})
